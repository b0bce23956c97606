/* Futex lock: Ulrich Drepper, "Futexes Are Tricky", 2011, the three-state mutex. */
#include "base/lock.h"

#include "base/check.h"
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* One bit per rank that this thread holds. Written by this thread and by its signal handlers, which leave it as found. */
static _Thread_local unsigned held;

static void futex(struct lock *lock, int operation, unsigned value) {
  int saved = errno;
  syscall(SYS_futex, &lock->state, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
  errno = saved;
}

/* HELD-AROUND: the note is made before the lock is taken and struck out after it is free, so that a signal handler between
 * the two never takes the lock for another thread's and waits for the thread that it interrupted. */
static void note_held(enum lock_rank rank) {
  ASSERT(held >> rank == 0);
  held |= 1u << rank;
  atomic_signal_fence(memory_order_seq_cst);
}

static void note_free(enum lock_rank rank) {
  atomic_signal_fence(memory_order_seq_cst);
  held &= ~(1u << rank);
}

static bool try(struct lock *lock) {
  unsigned expected = 0;
  return atomic_compare_exchange_strong_explicit(&lock->state, &expected, 1, memory_order_acquire,
                                                 memory_order_relaxed);
}

/* ---- shared ---- */

bool lock_try(struct lock *lock, enum lock_rank rank) {
  if (atomic_load_explicit(&lock->state, memory_order_relaxed)) return false; /* perhaps by this thread */
  note_held(rank);                                                            /* HELD-AROUND */
  if (try(lock)) return true;
  note_free(rank);
  return false;
}

void lock_acquire(struct lock *lock, enum lock_rank rank) {
  note_held(rank); /* HELD-AROUND */
  if (try(lock)) return;
  while (atomic_exchange_explicit(&lock->state, 2, memory_order_acquire) != 0) futex(lock, FUTEX_WAIT, 2);
}

void lock_release(struct lock *lock, enum lock_rank rank) {
  if (atomic_exchange_explicit(&lock->state, 0, memory_order_release) == 2) futex(lock, FUTEX_WAKE, 1);
  note_free(rank); /* HELD-AROUND */
}

bool lock_rank_held(enum lock_rank rank) { return held >> rank & 1; }
/* SPDX-License-Identifier: MIT */
