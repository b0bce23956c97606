/* How long operations took: counts by size, sixteen to a power of two, and the longest.
 *
 * A machine with other work, or below a hypervisor that has, takes the processor away for
 * milliseconds at a time: that is no pause of the heap's. So there is a second longest, without
 * what a thread spent off its processor, unless it slept. A yield is no sleep: what the heap waits
 * by yields for its own threads is left out, too, where they need this processor. The clock of that
 * is too slow to be read at each operation, and is read every few hundred microseconds. */
#ifndef BENCH_HEAP_LATENCY_H
#define BENCH_HEAP_LATENCY_H

#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

enum { LATENCY_OPERATIONS = 512 };

struct latency_clocks {
  uint64_t wall, processor;
  long waits;
};

struct latency {
  uint64_t counts[64 * 16];
  uint64_t total, most, most_on_processor;
  struct latency_clocks before;
};

static inline uint64_t latency_clock(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t latency_now(void) { return latency_clock(CLOCK_MONOTONIC); }

static inline struct latency_clocks latency_clocks(void) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return (struct latency_clocks){
      .wall = latency_now(), .processor = latency_clock(CLOCK_THREAD_CPUTIME_ID), .waits = usage.ru_nvcsw};
}

static inline void latency_begin(struct latency *latency) { latency->before = latency_clocks(); }

static inline unsigned latency_bucket(uint64_t nanoseconds) {
  unsigned power = 63u - (unsigned)__builtin_clzll(nanoseconds | 16);
  return (power - 4) * 16 + (unsigned)(nanoseconds >> (power - 4));
}

/* The largest that falls into a bucket. */
static inline uint64_t latency_bound(unsigned bucket) {
  return bucket < 32 ? bucket : ((uint64_t)(bucket % 16 + 17) << (bucket / 16 - 1)) - 1;
}

static inline void latency_weigh(struct latency *latency, uint64_t nanoseconds) {
  struct latency_clocks now = latency_clocks(), before = latency->before;
  uint64_t wall = now.wall - before.wall, processor = now.processor - before.processor;
  uint64_t away = wall > processor && now.waits == before.waits ? wall - processor : 0;
  uint64_t own = away < nanoseconds ? nanoseconds - away : 0;
  if (own > latency->most_on_processor) latency->most_on_processor = own;
  latency->before = now;
}

static inline void latency_add(struct latency *latency, uint64_t nanoseconds) {
  latency->counts[latency_bucket(nanoseconds)]++;
  latency->total++;
  if (nanoseconds > latency->most) latency->most = nanoseconds;
  if (nanoseconds > latency->most_on_processor || latency->total % LATENCY_OPERATIONS == 0)
    latency_weigh(latency, nanoseconds);
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
  printf("p50 %.3f us, p99 %.3f us, p99.9 %.3f us, p99.99 %.3f us, most %.3f us, on the processor %.3f us\n",
         (double)latency_at(latency, 0.5) / 1e3, (double)latency_at(latency, 0.99) / 1e3,
         (double)latency_at(latency, 0.999) / 1e3, (double)latency_at(latency, 0.9999) / 1e3,
         (double)latency->most / 1e3, (double)latency->most_on_processor / 1e3);
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
