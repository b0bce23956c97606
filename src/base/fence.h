/* A fence between two sides, of which one does not pay.
 *
 * Two threads each write a word, then read the other's, and one of them at least must see what the other wrote: both need a fence
 * in between. Where one side comes a million times as often as the other, its fence is `fence_light`, which only the compiler
 * minds, and the other's is `fence_heavy`, which has the system make every running thread of the process pass a fence: some
 * microseconds. Where the system cannot do that (membarrier, Linux 4.14) both are common fences. */
#ifndef BASE_FENCE_H
#define BASE_FENCE_H

#include <stdatomic.h>
#include <stdbool.h>

/* Before a process has two threads that use these; again does nothing. */
void fence_prepare(void);

extern _Atomic(bool) fence_is_uneven;
void fence_even(void);

static inline void fence_light(void) {
  if (__builtin_expect(atomic_load_explicit(&fence_is_uneven, memory_order_relaxed), 1))
    atomic_signal_fence(memory_order_seq_cst);
  else
    fence_even();
}

/* Calls the system; keeps errno. Not for signal handlers. */
void fence_heavy(void);

#endif
/* SPDX-License-Identifier: MIT */
