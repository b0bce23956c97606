/* The lock of what all heaps of a process share: the list of open heaps, the memory of ended domains,
 * the threads that were not joined yet. A thread that forks holds it until its fork is over.
 *
 * A thread that waits for the lock does not come to a safepoint. So while it waits, and while it
 * holds the lock, its domains count as `forking` (FORK of safepoint.h). It is held for short times
 * only, but for forks. */
#ifndef GC_DOMAINS_PROCESS_H
#define GC_DOMAINS_PROCESS_H

#include <stdbool.h>

void process_acquire(void);
void process_release(void);

/* False in a signal handler that interrupted a thread in the middle of something with locks. */
bool process_may_acquire(void);

#endif
/* SPDX-License-Identifier: MIT */
