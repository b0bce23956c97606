/* Futex lock: Ulrich Drepper, "Futexes Are Tricky", 2011, the three-state mutex; but held states
 * name their holder. */
#include "base/lock.h"

#include "base/check.h"
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* One bit per rank that this thread holds. Written by this thread and by its signal handlers, which
 * leave it as found. */
static _Thread_local unsigned held;

static void futex(struct lock *lock, int operation, unsigned value) {
  int saved = errno;
  syscall(SYS_futex, &lock->state, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
  errno = saved;
}

/* NOTED-AROUND: a thread notes the rank before it takes the lock, and strikes the note out after it
 * has released the lock. So a signal handler that interrupts the thread between the two finds the
 * note, and does not wait for the thread that it interrupted. */
static void lock_note(enum lock_rank rank) {
  held |= 1u << rank;
  atomic_signal_fence(memory_order_seq_cst);
}

static void note_held(enum lock_rank rank) {
  ASSERT(held >> rank == 0);
  lock_note(rank);
}

static void note_free(enum lock_rank rank) {
  atomic_signal_fence(memory_order_seq_cst);
  held &= ~(1u << rank);
}

/* The calling thread's token, twice: what the state of a lock that it holds is. A token is given
 * again after 2^31 threads; only if two threads with one token met would that matter. A signal
 * handler between the test and the store may give the thread another token; the handler holds no
 * lock when it returns. */
static unsigned lock_own(void) {
  static _Atomic(unsigned) tokens;
  static _Thread_local unsigned token;
  while (!(token & INT_MAX)) token = 1 + atomic_fetch_add_explicit(&tokens, 1, memory_order_relaxed);
  return token << 1;
}

static bool try(struct lock *lock, unsigned state) {
  unsigned expected = 0;
  return atomic_compare_exchange_strong_explicit(&lock->state, &expected, state, memory_order_acquire,
                                                 memory_order_relaxed);
}

/* Bit 0 of the state says that a thread may wait. A thread that has waited does not know whether
 * others still do, so it takes the lock with the bit set. */
static void lock_take(struct lock *lock) {
  unsigned mine = lock_own();
  if (try(lock, mine)) return;
  while (!try(lock, mine | 1)) {
    unsigned state = atomic_load_explicit(&lock->state, memory_order_relaxed);
    if (!state) continue;
    if (state & 1 || atomic_compare_exchange_strong_explicit(&lock->state, &state, state | 1,
                                                             memory_order_relaxed, memory_order_relaxed))
      futex(lock, FUTEX_WAIT, state | 1);
  }
}

static void lock_give(struct lock *lock) {
  if (atomic_exchange_explicit(&lock->state, 0, memory_order_release) & 1) futex(lock, FUTEX_WAKE, 1);
}

/* ---- shared ---- */

void lock_acquire(struct lock *lock, enum lock_rank rank) {
  note_held(rank); /* NOTED-AROUND */
  lock_take(lock);
}

void lock_release(struct lock *lock, enum lock_rank rank) {
  lock_give(lock);
  note_free(rank); /* NOTED-AROUND */
}

bool lock_is_mine(const struct lock *lock) {
  return atomic_load_explicit(&lock->state, memory_order_relaxed) >> 1 == lock_own() >> 1;
}

void lock_before_fork(struct lock *lock, enum lock_rank rank, struct lock_fork *fork) {
  if (lock_is_mine(lock)) {
    fork->within++;
    return;
  }
  bool noted = lock_rank_held(rank);
  if (!noted) note_held(rank);
  lock_take(lock);
  fork->noted = noted; /* not before: a nested fork writes it too */
}

bool lock_try_before_fork(struct lock *lock, enum lock_rank rank, struct lock_fork *fork) {
  if (lock_is_mine(lock)) {
    fork->within++;
    return true;
  }
  bool noted = lock_rank_held(rank);
  lock_note(rank);
  bool taken = try(lock, lock_own());
  if (!taken && !noted) note_free(rank);
  if (taken) fork->noted = noted;
  return taken;
}

void lock_after_fork(struct lock *lock, enum lock_rank rank, struct lock_fork *fork) {
  if (fork->within) {
    fork->within--;
    return;
  }
  bool noted = fork->noted;
  lock_give(lock);
  if (!noted) note_free(rank);
}

bool lock_rank_held(enum lock_rank rank) { return held >> rank & 1; }
bool lock_must_not_wait(enum lock_rank rank) { return held >> rank; }
/* SPDX-License-Identifier: MIT */
