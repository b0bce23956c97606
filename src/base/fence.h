/* An uneven pair of fences.
 *
 *   The frequent side:      The rare side:
 *   1. stores its word;     1. stores its word;
 *   2. fence_light;         2. fence_heavy;
 *   3. loads the other's.   3. loads the other's.
 *
 * At least one of the two sides sees the other's store. fence_light orders the compiler only.
 * fence_heavy has the system make every running thread of the process pass a fence, which takes
 * some microseconds. Where the system cannot do that (membarrier, Linux 4.14) both are common
 * fences. */
#pragma once

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
/* SPDX-License-Identifier: MIT */
