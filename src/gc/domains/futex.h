/* Futexes: sleeping while a word has a value. */
#ifndef GC_DOMAINS_FUTEX_H
#define GC_DOMAINS_FUTEX_H

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Sleeps while the word is `value`; may return early. */
static inline void futex_wait(_Atomic(uint32_t) *word, uint32_t value) {
  int saved = errno;
  syscall(SYS_futex, word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
  errno = saved;
}

static inline void futex_wake(_Atomic(uint32_t) *word, int32_t threads) {
  int saved = errno;
  syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, threads, NULL, NULL, 0);
  errno = saved;
}

/* Sleeps while the word is `value`, until the time `until` of CLOCK_MONOTONIC, or without limit if
 * `until` is NULL. futex_wake_some wakes the sleepers that share a bit with it. False if the time
 * passed. */
static inline bool futex_wait_until(_Atomic(uint32_t) *word, uint32_t value, uint32_t bits,
                                    const struct timespec *until) {
  int saved = errno;
  bool late = syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, value, until, NULL, bits) &&
              errno == ETIMEDOUT;
  errno = saved;
  return !late;
}

static inline void futex_wake_some(_Atomic(uint32_t) *word, uint32_t bits) {
  int saved = errno;
  syscall(SYS_futex, word, FUTEX_WAKE_BITSET | FUTEX_PRIVATE_FLAG, INT32_MAX, NULL, NULL, bits);
  errno = saved;
}

/* A short wait of a thread that spins. */
static inline void spin_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  atomic_signal_fence(memory_order_seq_cst);
#endif
}

#endif
/* SPDX-License-Identifier: MIT */
