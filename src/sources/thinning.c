/* Draws the numbers, and inverts their distributions. */
#include "sources/thinning.h"

#include "base/hash.h"
#include <math.h>

enum draw { FIRST_HIT, FIRST_IS_KEPT, NEXT_HIT };

/* Uniform from 0 to 1, without 1. */
static double uniform(const struct thinning *thinning, uint64_t block, enum draw draw) {
  return (double)(hash_combine(hash_combine(thinning->seed, block), (uint64_t)draw) >> 11) * 0x1p-53;
}

/* X: how many words had had a trial when the first hit came. */
static uint64_t first_hit(const struct thinning *thinning, uint64_t block, struct first_trial first) {
  double u = uniform(thinning, block, FIRST_HIT), missed = log1p(-thinning->rate);
  if (first.words <= first.before + 1) return first.words;
  uint64_t among = first.words - first.before;
  double sampled = -expm1((double)among * missed), words = ceil(log1p(-u * sampled) / missed);
  if (!(words >= 1)) words = 1; /* also where the rate is 1 */
  return words < (double)among ? first.before + (uint64_t)words : first.words;
}

/* ---- shared ---- */

double thinning_least_share(const struct thinning *thinning, uint64_t block, struct first_trial first,
                            uint64_t words) {
  double least = uniform(thinning, block, FIRST_IS_KEPT);
  uint64_t hit = first_hit(thinning, block, first);
  if (words <= hit) return least;
  /* The rate r for which u is the probability of a hit in so many words: u = 1 - (1 - r)^words. */
  double u = uniform(thinning, block, NEXT_HIT), rate = -expm1(log1p(-u) / (double)(words - hit));
  return fmin(least, rate / thinning->rate);
}
/* SPDX-License-Identifier: MIT */
