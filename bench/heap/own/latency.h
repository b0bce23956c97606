/* How long operations took: counts by size, sixteen to a power of two, and the longest. */
#ifndef BENCH_HEAP_LATENCY_H
#define BENCH_HEAP_LATENCY_H

#include <stdint.h>
#include <stdio.h>
#include <time.h>

struct latency {
  uint64_t counts[64 * 16];
  uint64_t total, most;
};

static inline uint64_t latency_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline unsigned latency_bucket(uint64_t nanoseconds) {
  unsigned power = 63u - (unsigned)__builtin_clzll(nanoseconds | 16);
  return (power - 4) * 16 + (unsigned)(nanoseconds >> (power - 4));
}

/* The largest that falls into a bucket. */
static inline uint64_t latency_bound(unsigned bucket) {
  return bucket < 32 ? bucket : ((uint64_t)(bucket % 16 + 17) << (bucket / 16 - 1)) - 1;
}

static inline void latency_add(struct latency *latency, uint64_t nanoseconds) {
  latency->counts[latency_bucket(nanoseconds)]++;
  latency->total++;
  if (nanoseconds > latency->most) latency->most = nanoseconds;
}

static inline uint64_t latency_at(const struct latency *latency, double part) {
  double wanted = part * (double)latency->total;
  uint64_t seen = 0;
  for (unsigned i = 0; i < sizeof latency->counts / sizeof *latency->counts; i++) {
    seen += latency->counts[i];
    if ((double)seen >= wanted) return latency_bound(i) < latency->most ? latency_bound(i) : latency->most;
  }
  return latency->most;
}

static inline void latency_print(const struct latency *latency) {
  printf("p50 %.3f us, p99 %.3f us, p99.9 %.3f us, p99.99 %.3f us, most %.3f us\n",
         (double)latency_at(latency, 0.5) / 1e3, (double)latency_at(latency, 0.99) / 1e3,
         (double)latency_at(latency, 0.999) / 1e3, (double)latency_at(latency, 0.9999) / 1e3,
         (double)latency->most / 1e3);
}

/* The counts by powers of two. */
static inline void latency_print_histogram(const struct latency *latency) {
  for (unsigned power = 0; power < 64; power++) {
    uint64_t count = 0;
    for (unsigned i = 0; i < sizeof latency->counts / sizeof *latency->counts; i++)
      if (latency->counts[i] && 63u - (unsigned)__builtin_clzll(latency_bound(i) | 1) == power)
        count += latency->counts[i];
    if (count)
      printf("  below %10.3f us: %llu\n", (double)((uint64_t)2 << power) / 1e3, (unsigned long long)count);
  }
}

#endif
/* SPDX-License-Identifier: MIT */
