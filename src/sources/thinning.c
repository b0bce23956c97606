/* Draws the numbers, and inverts their distributions. */
#include "sources/thinning.h"

#include "base/hash.h"
#include <math.h>
#include <string.h>

enum draw { FIRST_HIT, FIRST_IS_KEPT, NEXT_HIT };

/* Uniform from 0 to 1, without 1. */
static double uniform(uint64_t seed, uint64_t block, uint64_t draw) {
  return (double)(hash_combine(hash_combine(seed, block), draw) >> 11) * 0x1p-53;
}

/* X: how many words had had a trial when the first hit came. */
static uint64_t first_hit(uint64_t seed, uint64_t block, struct first_trial first) {
  double u = uniform(seed, block, FIRST_HIT), missed = log1p(-first.rate);
  if (first.words <= first.before + 1) return first.words;
  uint64_t among = first.words - first.before;
  double sampled = -expm1((double)among * missed), words = ceil(log1p(-u * sampled) / missed);
  if (!(words >= 1)) words = 1; /* also where the rate is 1 */
  return words < (double)among ? first.before + (uint64_t)words : first.words;
}

/* ---- shared ---- */

double thinning_words_after(uint64_t seed, uint64_t block, struct first_trial first) {
  return (double)(first.words - first_hit(seed, block, first));
}

double thinning_first_share(uint64_t seed, uint64_t block) { return uniform(seed, block, FIRST_IS_KEPT); }

double thinning_later_share(uint64_t seed, uint64_t block, double rate, double words) {
  uint64_t bits;
  memcpy(&bits, &rate, sizeof bits);
  if (!(words > 0) || !(rate > 0)) return 1;
  /* The rate r for which u is the probability of a hit in so many words: u = 1 - (1 - r)^words. */
  double u = uniform(seed, block, NEXT_HIT + bits);
  return fmin(1, -expm1(log1p(-u) / words) / rate);
}
/* SPDX-License-Identifier: MIT */
