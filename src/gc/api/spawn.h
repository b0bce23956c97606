/* Threads that the heap started. */
#ifndef GC_API_SPAWN_H
#define GC_API_SPAWN_H

/* In the child of a fork: threads that were not joined cannot be, but for the calling one. The
 * caller holds the lock of process.h. */
void joins_lose_threads(void);

#endif
/* SPDX-License-Identifier: MIT */
