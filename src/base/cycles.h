/* The processor's cycle counter: counts at one rate in all threads, and is read in a few
 * nanoseconds. cycles_of_us tells roughly, within a factor of two, how far it counts in some
 * microseconds. */
#pragma once

#include "base/os.h"
#include <stdint.h>

#if defined __x86_64__
static inline uint64_t cycles_now(void) { return __builtin_ia32_rdtsc(); }
static inline uint64_t cycles_of_us(uint64_t us) { return us * 2500; }
#elif defined __aarch64__
static inline uint64_t cycles_now(void) {
  uint64_t now;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
  return now;
}
static inline uint64_t cycles_of_us(uint64_t us) {
  uint64_t a_second;
  __asm__("mrs %0, cntfrq_el0" : "=r"(a_second));
  return us * a_second / 1000000;
}
#else
static inline uint64_t cycles_now(void) { return os_monotonic_ns(); }
static inline uint64_t cycles_of_us(uint64_t us) { return us * 1000; }
#endif
/* SPDX-License-Identifier: MIT */
