/* A small lock for code that runs inside malloc: four bytes, zero is unlocked, sleeps on a futex,
 * needs no set-up.
 *
 * Every lock has a rank; a thread may only take locks of higher rank than those it holds. Checked
 * where checks are on. A lock is never held while user code runs, but for code that must not come
 * back to us: hooks of a stopped world, and listeners of winnow/events.h. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

/* In the order in which they may be taken. */
enum lock_rank {
  LOCK_RANK_PROCESS = 1, /* gc: what all heaps share; held during a fork */
  LOCK_RANK_WORLD,       /* gc: the list of domains; held while the world is stopped */
  LOCK_RANK_FINALISERS,  /* gc: finalisers and alarms */
  LOCK_RANK_GLOBALS,     /* gc: global roots */
  LOCK_RANK_WEAK,        /* gc: weak blocks */
  LOCK_RANK_PINS,        /* gc: pinned blocks */
  LOCK_RANK_IDENTITIES,  /* gc: identity hashes */
  LOCK_RANK_MARK,        /* gc: mark work that is shared */
  LOCK_RANK_POOLS,       /* gc: the lists of pools */
  LOCK_RANK_MEDIUM,      /* gc: medium and large blocks */
  LOCK_RANK_CHUNKS,      /* gc: chunks */
  LOCK_RANK_MAPPINGS,    /* preload: what the program maps itself */
  LOCK_RANK_ORPHANS,     /* memprof: owners, and the entries of those that ended */
  LOCK_RANK_TRACKED,     /* memprof: a shard of the table of tracked blocks */
  LOCK_RANK_PLACES,      /* callstack: the table of a language's places */
  LOCK_RANK_MODULES,     /* callstack: the table of loaded modules */
  LOCK_RANK_RUNS,        /* preload: page runs of the region */
  LOCK_RANK_SLOTS,       /* gc: the addresses of handles, where checks are on */
};

struct lock {
  _Atomic(unsigned) state; /* 0: free; else twice the holder's token, plus 1 if a thread may wait */
};

void lock_acquire(struct lock *lock, enum lock_rank rank);
void lock_release(struct lock *lock, enum lock_rank rank);

/* True if the calling thread holds a lock of this rank, waits for one, or is just taking or
 * releasing one. In a signal handler the calling thread is the one that was interrupted. */
bool lock_rank_held(enum lock_rank rank);

/* True if the same holds of this rank or of a higher one: then a signal handler must not wait for a
 * lock of this rank. */
bool lock_must_not_wait(enum lock_rank rank);

/* True if the calling thread holds this very lock. The thread of a forked child counts as the
 * thread of the parent that forked it. */
bool lock_is_mine(const struct lock *lock);

/* Around a fork. In the child, a lock that another thread of the parent held would stay locked for
 * ever, so the forking thread takes the lock before the fork, and parent and child release it
 * afterwards. A fork may happen in a signal handler that interrupted the holder of the lock: then
 * the lock stays the holder's, in parent and child. `fork` is the thread's own, zeroed at first.
 * Forks may nest. */
struct lock_fork {
  unsigned within; /* forks under way that found the lock held by their own thread */
  bool noted;      /* the rank was noted before: the handler interrupted a thread that waits */
};
void lock_before_fork(struct lock *lock, enum lock_rank rank, struct lock_fork *fork);
/* The same, but false if another thread holds the lock: nothing is taken then. */
bool lock_try_before_fork(struct lock *lock, enum lock_rank rank, struct lock_fork *fork);
void lock_after_fork(struct lock *lock, enum lock_rank rank, struct lock_fork *fork);
/* SPDX-License-Identifier: MIT */
