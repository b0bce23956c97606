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

static void note_held(enum lock_rank rank) {
  ASSERT(held >> rank == 0);
  held |= 1u << rank;
}

/* ---- shared ---- */

bool lock_try(struct lock *lock, enum lock_rank rank) {
  unsigned expected = 0;
  if (!atomic_compare_exchange_strong_explicit(&lock->state, &expected, 1, memory_order_acquire,
                                               memory_order_relaxed))
    return false;
  note_held(rank);
  return true;
}

void lock_acquire(struct lock *lock, enum lock_rank rank) {
  if (lock_try(lock, rank)) return;
  while (atomic_exchange_explicit(&lock->state, 2, memory_order_acquire) != 0) futex(lock, FUTEX_WAIT, 2);
  note_held(rank);
}

void lock_release(struct lock *lock, enum lock_rank rank) {
  held &= ~(1u << rank);
  if (atomic_exchange_explicit(&lock->state, 0, memory_order_release) == 2) futex(lock, FUTEX_WAKE, 1);
}

bool lock_rank_held(enum lock_rank rank) { return held >> rank & 1; }
/* SPDX-License-Identifier: MIT */
