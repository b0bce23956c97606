/* Exceptions that callbacks raise.
 *
 * A callback can be left only by its return. So an exception waits in the domain, as a root, until
 * the outermost callback of its thread has returned and everything is consistent. At that safepoint
 * the heap's raise hook gets it, and may leave by longjmp. Without a hook it waits for
 * wn_take_exception. While an exception is pending no callback begins.
 *
 * The frames that the hook would leave to are gone if the thread that raised the exception has
 * ended, or raised it in its last callbacks. With a hook such an exception is lost with the thread,
 * as an uncaught exception of an OCaml thread is. Without a hook it waits until any thread of the
 * domain takes it. */
#ifndef GC_DOMAINS_EXCEPTION_H
#define GC_DOMAINS_EXCEPTION_H

#include "gc/store/layout.h"
#include <winnow/heap.h>

struct domain_thread;

/* Accessed by the domain's running thread. The value is a root. */
struct gc_exception {
  bool pending;
  wn_value value;
  struct domain_thread *raiser;
};

/* Called while an exception is pending. Calls the hook, if there is one and the calling thread is
 * in no callback any more. Returns WN_EBUSY, with a message, if the hook returns. */
wn_status exception_leave(wn_domain *domain);

/* Called when the thread has ended, or is about to end. True if no exception is pending any more,
 * so that the thread's last callbacks can run. */
bool exception_outlives(struct domain_thread *thread);

/* Drops the pending exception. */
void exception_drop(wn_domain *domain);

#endif
/* SPDX-License-Identifier: MIT */
