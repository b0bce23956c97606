/* Exceptions that callbacks raise.
 *
 * A callback cannot be left but by returning. So an exception waits in the domain, a root, until the outermost callback of its
 * thread has returned and all is consistent. There, at the safepoint, the heap's raise hook gets it, and may leave by longjmp;
 * without a hook it waits for wn_take_exception. While one waits no callback begins.
 *
 * What a thread raised that has ended since, or raises in its last callbacks, nobody can catch: the frames that the hook would
 * leave to are gone. So it is lost with the thread if there is a hook, as an exception is that nobody catches in a thread of OCaml;
 * without a hook it waits for any thread of the domain to take it. */
#ifndef GC_WORLD_EXCEPTION_H
#define GC_WORLD_EXCEPTION_H

#include "gc/store/layout.h"
#include <winnow/heap.h>

struct domain_thread;

/* Touched by the domain's running thread; a root. */
struct gc_exception {
  bool pending;
  wn_value value;
  struct domain_thread *raiser;
};

/* Returns WN_EBUSY, with a message. Before that the hook is called, if there is one and the calling thread is in no
 * callback any more. An exception is pending. */
wn_status exception_leave(wn_domain *domain);

/* The thread has ended, or is about to. True if nothing is pending any more that its last callbacks would have to wait for. */
bool exception_outlives(struct domain_thread *thread);

/* Forgets it. */
void exception_drop(wn_domain *domain);

#endif
/* SPDX-License-Identifier: MIT */
