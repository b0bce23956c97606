/* Sleeping on a word. */
#ifndef GC_FUTEX_H
#define GC_FUTEX_H

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
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

/* A moment's rest for a thread that waits without sleeping. */
static inline void spin_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  atomic_signal_fence(memory_order_seq_cst);
#endif
}

#endif
/* SPDX-License-Identifier: MIT */
