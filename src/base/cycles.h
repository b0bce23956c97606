/* The processor's cycle counter: counts at one rate in all threads, and is read in a few
 * nanoseconds. */
#ifndef BASE_CYCLES_H
#define BASE_CYCLES_H

#include "base/os.h"
#include <stdint.h>

#if defined __x86_64__
static inline uint64_t cycles_now(void) { return __builtin_ia32_rdtsc(); }
#elif defined __aarch64__
static inline uint64_t cycles_now(void) {
  uint64_t now;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
  return now;
}
#else
static inline uint64_t cycles_now(void) { return os_monotonic_ns(); }
#endif

#endif
/* SPDX-License-Identifier: MIT */
