/* What recording costs: the processor time of all threads in our code, and after it. */
#ifndef PRELOAD_COST_H
#define PRELOAD_COST_H

#include "base/cycles.h"
#include <stdatomic.h>
#include <stdbool.h>

/* A program may forbid itself to read the cycle counter: the strict mode of seccomp does, and
 * PR_SET_TSC. */
extern _Atomic(bool) cost_is_confined;

/* The counter now, or 0. */
static inline uint64_t cost_now(void) {
  return __builtin_expect(atomic_load_explicit(&cost_is_confined, memory_order_relaxed), 0) ? 0
                                                                                            : cycles_now();
}

/* Called before any cost, and in a forked child; and when the calling thread ends. */
void cost_begin(void);
void cost_thread_ends(void);

/* A filter of system calls holds for the process, or may. */
void cost_forgo_clocks(void);

/* The calling thread was in our code since the counter had this value, which is not 0: a visit. And
 * before: that visit took no sample, so it has no part in what the rate costs. */
void cost_add_since(uint64_t began);
void cost_is_beside(void);

/* Within a visit: long work begins, and ends. Both make a system call. */
struct cost_work {
  uint64_t cycles, cpu_ns;
};
struct cost_work cost_work_begin(void);
void cost_work_end(struct cost_work begun);

/* In nanoseconds, but for the last few visits of each thread: for samples, and beside them. */
struct cost {
  uint64_t sampling_ns, other_ns;
};
struct cost cost_until_now(void);

/* The processor time of the process since it was first asked for, after cost_begin. Makes system calls. */
uint64_t cost_processor_ns(void);

#endif
/* SPDX-License-Identifier: MIT */
