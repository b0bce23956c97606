/* Exceptions that callbacks raise.
 *
 * A callback cannot be left but by returning. So an exception waits in the domain, a root, until the outermost callback of its
 * thread has returned and all is consistent. There, at the safepoint, the heap's raise hook gets it, and may leave by longjmp;
 * without a hook it waits for wn_take_exception. While one waits no callback begins. */
#ifndef GC_EXCEPTION_H
#define GC_EXCEPTION_H

#include "gc/layout.h"
#include <winnow/heap.h>

struct gc_thread;

/* Touched by the domain's running thread; a root. */
struct gc_exception {
  bool pending;
  wn_value value;
  struct gc_thread *raiser;
};

bool exception_is_pending(const wn_domain *domain);

/* Returns WN_EBUSY, with a message. Before that the hook is called, if there is one and the calling thread is in no
 * callback any more. An exception is pending. */
wn_status exception_leave(wn_domain *domain);

/* Forgets it. */
void exception_drop(wn_domain *domain);

#endif
/* SPDX-License-Identifier: MIT */
