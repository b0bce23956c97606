/* What sampling costs: nanoseconds a gap, and nanoseconds an entry that is allocated and freed.
 *
 *   bench_gap
 */
#include "memprof/host.h"
#include <stdio.h>
#include <time.h>

enum { GAPS = 50000000, ENTRIES = 5000000, LIVE = 1024 };

/* Of the processor, so that other programs do not count. */
static uint64_t processor_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void bench_gaps(double rate) {
  static struct sampler sampler;
  sampler_init(&sampler, rate, 1, 1, 1);
  uint64_t sum = 0, start = processor_ns();
  for (int i = 0; i < GAPS; i++) sum += (uint64_t)sampler_gap(&sampler);
  uint64_t end = processor_ns();
  printf("gap at rate %-8g %6.2f ns  (mean * rate = %.6f)\n", rate, (double)(end - start) / GAPS,
         (double)sum / GAPS * rate);
}

static void rearm(struct memprof_owner *owner) { (void)owner; }
static const wn_callstack *capture(struct memprof_thread *thread, size_t depth) {
  (void)thread, (void)depth;
  return NULL;
}
static void *born(wn_domain *domain, const wn_allocation *allocation, void *context) {
  (void)domain, (void)allocation;
  return context;
}
static void died(wn_domain *domain, void *metadata, void *context) {
  (void)domain, (void)metadata, (void)context;
}

/* A parallel host as malloc is one, at lambda = 1, with LIVE blocks alive at a time. */
static void bench_entries(void) {
  static const struct memprof_ops ops = {.parallel = true, .rearm = rearm, .capture = capture};
  static struct memprof engine;
  static struct memprof_owner owner;
  static struct memprof_thread thread;
  memprof_open(&engine, &ops, NULL, 1 << 20);
  memprof_owner_create(&owner, &engine, NULL, NULL);
  memprof_thread_attach(&thread, &owner, NULL, NULL);
  wn_memprof_options options = {.sampling_rate = 1};
  wn_tracker tracker = {.alloc_major = born, .dealloc_major = died, .context = &engine};
  wn_profile *profile;
  if (memprof_start(&thread, &options, &tracker, &profile)) return;
  static struct memprof_entry *live[LIVE];
  int64_t left = memprof_gap(&thread);
  uint64_t start = processor_ns();
  for (int i = 0; i < ENTRIES; i++) {
    struct memprof_entry **slot = &live[i % LIVE];
    if (*slot) {
      memprof_freed(&thread, *slot);
      memprof_drain(&thread);
    }
    left -= 3;
    struct memprof_birth birth = {.address = 16, .trials = 3, .bytes = 16};
    birth.n_samples = memprof_hits(&thread, &left);
    *slot = memprof_allocated(&thread, &birth);
    memprof_drain(&thread);
  }
  uint64_t end = processor_ns();
  printf("entry allocated and freed %6.1f ns\n", (double)(end - start) / ENTRIES);
  memprof_close(&engine);
}

int main(void) {
  const double rates[] = {1e-6, 1e-3, 0.42, 1};
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) bench_gaps(rates[i]);
  bench_entries();
  return 0;
}
/* SPDX-License-Identifier: MIT */
