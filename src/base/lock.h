/* A small lock for code that runs inside malloc: four bytes, zero is unlocked, sleeps on a futex, needs no set-up.
 *
 * Every lock has a rank; a thread may only take locks of higher rank than those it holds. Checked where checks are on.
 * A lock is never held while user code runs. */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>

/* In the order in which they may be taken. */
enum lock_rank {
  LOCK_RANK_ORPHANS = 1, /* memprof: the list of entries whose owner ended */
  LOCK_RANK_MODULES,     /* callstack: the table of loaded modules */
  LOCK_RANK_RUNS,        /* preload: page runs of the region */
};

struct lock {
  _Atomic(unsigned) state; /* 0 free, 1 held, 2 held and somebody waits */
};

void lock_acquire(struct lock *lock, enum lock_rank rank);
bool lock_try(struct lock *lock, enum lock_rank rank);
void lock_release(struct lock *lock, enum lock_rank rank);

/* True if the calling thread holds a lock of this rank: a signal handler may have interrupted the holder. */
bool lock_rank_held(enum lock_rank rank);

#endif
/* SPDX-License-Identifier: MIT */
