/* Made-up blocks under the real sampler. */
#ifndef TESTS_ANALYSIS_SAMPLED_H
#define TESTS_ANALYSIS_SAMPLED_H

#include "analysis/load/timeline.h"
#include "base/words.h"
#include "memprof/sampler.h"
#include <stdlib.h>

enum { GROWTHS_MOST = 64 };

struct thread {
  struct sampler sampler;
  int64_t left; /* words before the next sample */
};

static inline void thread_begin(struct thread *thread, double rate, uint64_t seed, uint64_t stream) {
  sampler_init(&thread->sampler, rate, seed, stream, 0);
  thread->left = sampler_gap(&thread->sampler) - 1;
}

static inline bool is_sampled(struct thread *thread, size_t words) {
  thread->left -= (int64_t)words;
  return thread->left < 0 && sampler_hits(&thread->sampler, &thread->left) > 0;
}

/* A block's life from malloc through every realloc; adds what was allocated of it, and how
 * often. */
static inline void allocate_growing(struct thread *thread, const size_t *sizes, int count, double rate,
                                    struct sums *sums) {
  struct row rows[GROWTHS_MOST];
  struct samples samples = {.rows = rows};
  size_t words = 0, size = 0;
  double growth = 0; /* of the first row */
  for (int i = 0; i < count; i++) {
    size_t larger = malloc_words(sizes[i]);
    bool hit = is_sampled(thread, larger > words ? larger - words : 0), call = sizes[i] > size;
    if (larger > words) words = larger;
    if (hit && !samples.row_count) growth = growth_of_sizes(size, sizes[i]);
    if (hit || samples.row_count)
      rows[samples.row_count++] = (struct row){.size = sizes[i], .call = call, .words = words};
    size = sizes[i];
  }
  if (!samples.row_count) return;
  if (!grown_finish_block(&samples.grown, rows, samples.row_count, growth, &rate)) abort();
  for (size_t i = 0; i < samples.row_count; i++) timeline_add_call(sums, &samples, &rows[i]);
  grown_destroy(&samples.grown);
}

/* A source that has a run and no more. */
struct made_source {
  struct source source;
  struct trace_run run;
  struct trace_damage damage;
};

static void close_made(struct source *source) { (void)source; }
static const struct trace_run *run_of(const struct source *source) {
  return &((const struct made_source *)source)->run;
}
static const struct trace_damage *damage_of(const struct source *source) {
  return &((const struct made_source *)source)->damage;
}
static uint32_t no_stacks(const struct source *source) {
  (void)source;
  return 0;
}
static const struct source_format made = {
    .close = close_made, .run = run_of, .damage = damage_of, .stack_count = no_stacks};

#endif
/* SPDX-License-Identifier: MIT */
