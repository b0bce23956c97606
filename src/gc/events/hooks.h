/* Functions of the program that the heap calls in the middle of its work: the hooks walk_roots and
 * callstack, `release`, and listeners. A fork there finds the heap half-done (fork.h of gc/api). */
#ifndef GC_EVENTS_HOOKS_H
#define GC_EVENTS_HOOKS_H

/* How many of them the calling thread is in. Raised and lowered around each call. */
extern _Thread_local unsigned hooks_running;

#endif
/* SPDX-License-Identifier: MIT */
