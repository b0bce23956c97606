/* Nanoseconds for cache.ml, without allocation: as in own/latency.h. */
#include <stdint.h>
#include <time.h>

intptr_t clock_now(intptr_t unit);
intptr_t clock_now(intptr_t unit) {
  struct timespec now;
  (void)unit;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (intptr_t)now.tv_sec * 1000000000 + (intptr_t)now.tv_nsec;
}
/* SPDX-License-Identifier: MIT */
