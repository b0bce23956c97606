/* How made-up hosts differ, and which of their blocks are sampled. */
#pragma once

#include "base/random.h"
#include "memprof/sampler.h"
#include <math.h>

/* A normal deviate: G. Box and M. Muller, Annals of Mathematical Statistics 29, 1958. */
static inline double random_normal(struct random *random) {
  return sqrt(-2 * log(random_unit(random))) * cos(2 * M_PI * random_unit(random));
}

/* How many of a function's blocks are sampled: after a block that is, the words of the next one are as
 * good as new. */
static inline uint64_t sampled(struct sampler *sampler, uint64_t blocks, uint64_t words) {
  uint64_t count = 0;
  for (uint64_t at = (uint64_t)sampler_gap(sampler) - 1; at < blocks * words; count++)
    at = (at / words + 1) * words + (uint64_t)sampler_gap(sampler) - 1;
  return count;
}
/* SPDX-License-Identifier: MIT */
