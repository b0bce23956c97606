/* The sampling law: each word is sampled with probability lambda, independently. docs/sampling.md
 * derives it. */
#ifndef MEMPROF_SAMPLER_H
#define MEMPROF_SAMPLER_H

#include "base/random.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The count of a thread that samples nothing, and the gap at lambda = 0: no program allocates so
 * many words. */
#define SAMPLER_NEVER (INT64_MAX / 2)

/* The largest gap that is ever drawn. */
#define SAMPLER_MOST (INT64_C(1) << 62)

enum { SAMPLER_BATCH = 16 };

/* A stream of gaps. It belongs to one thread. */
struct sampler {
  struct random random;
  double inverse_log; /* 1 / log1p(-lambda); -0.0 for lambda = 1, whose gaps are all 1; 1 for never */
  unsigned used;      /* how many of `gaps` are used */
  int64_t gaps[SAMPLER_BATCH];
};

/* Starts a stream. 0 <= rate <= 1. Two different triples of numbers give unrelated streams. */
void sampler_init(struct sampler *sampler, double rate, uint64_t seed, uint64_t profile, uint64_t sequence);

void sampler_refill(struct sampler *sampler);

/* The distance to the next sampled word: geometric on {1, 2, ...}, at most SAMPLER_MOST;
 * SAMPLER_NEVER where lambda is 0 or too small for 1 / log1p(-lambda) to be finite. */
static inline int64_t sampler_gap(struct sampler *sampler) {
  unsigned used = sampler->used;
  if (used == SAMPLER_BATCH) {
    sampler_refill(sampler);
    used = 0;
  }
  sampler->used =
      used + 1; /* through a local variable: a signal handler may draw gaps between any two of these lines */
  return sampler->gaps[used];
}

/* How many samples fall into the block whose words took `*left` below zero; `*left` is then how
 * many words may follow before the next sampled one, so that the gap carries over to the next
 * block. 0 if `*left` is not negative. */
static inline size_t sampler_hits(struct sampler *sampler, int64_t *left) {
  int64_t count = *left;
  size_t hits = 0;
  while (count < 0) {
    count += sampler_gap(sampler);
    hits++;
    if (__builtin_expect(count >= 0, 1)) break;
    if (sampler->inverse_log != 0) continue;
    hits += (size_t)-count; /* lambda = 1: all at once */
    count = 0;
  }
  *left = count;
  return hits;
}

/* As sampler_hits, for the usual case: true if exactly one sample falls into the block and the
 * batch has the next gap. Otherwise it does nothing, and the caller calls sampler_hits. */
static inline bool sampler_hits_once(struct sampler *sampler, int64_t *left) {
  unsigned used = sampler->used;
  if (used == SAMPLER_BATCH || *left >= 0) return false;
  int64_t count = *left + sampler->gaps[used];
  if (count < 0) return false;
  sampler->used = used + 1;
  *left = count;
  return true;
}

/* The natural logarithm of a finite x > 0 that is not subnormal, with a relative error below 1e-13.
 * Our own, since the C library's would make the preloaded library load libm into every program, and
 * is slower. */
double sampler_log(double x);

#endif
/* SPDX-License-Identifier: MIT */
