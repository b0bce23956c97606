/* Made-up blocks under the real sampler. */
#ifndef TESTS_ANALYSIS_SAMPLED_H
#define TESTS_ANALYSIS_SAMPLED_H

#include "analysis/call_tree.h"
#include "base/words.h"
#include "memprof/sampler.h"

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
  size_t known = 0, words = 0, size = 0;
  for (int i = 0; i < count; i++) {
    size_t larger = malloc_words(sizes[i]);
    bool hit = is_sampled(thread, larger > words ? larger - words : 0), call = sizes[i] > size;
    if (larger > words) words = larger;
    if (hit || known)
      rows[known++] = (struct row){.size = sizes[i],
                                   .call = call,
                                   .allocated = call ? sizes[i] : 0,
                                   .words = words,
                                   .bytes_by.growth = call ? (double)size / (double)sizes[i] : 0};
    size = sizes[i];
  }
  if (!known) return;
  samples_finish_block(rows, known, rate);
  for (size_t i = 0; i < known; i++) {
    if (!rows[i].call) continue;
    sum_add_dependent(&sums->bytes, (double)rows[i].allocated, rows[i].probability, &rows[i].bytes_by);
    sum_add_dependent(&sums->blocks, 1, rows[i].probability, &rows[i].call_by);
  }
}

#endif
/* SPDX-License-Identifier: MIT */
