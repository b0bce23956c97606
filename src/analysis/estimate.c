/* Estimates and intervals.
 *
 * Each word is sampled independently with probability `rate`, so a block of w words is in the sample with probability
 * p = 1 - (1 - rate)^w, independently of other blocks: Poisson sampling of blocks. The estimator is Horvitz and Thompson's
 * (1952): the total of y is the sum of y/p over the sampled blocks. Its variance is the sum of y^2 (1-p)/p over all
 * blocks, estimated from the sample by the sum of y^2 (1-p)/p^2. Both are exact for any mixture of sizes.
 *
 * Interval: the total behaves like c times a Poisson count k, where c = variance / total and k = total^2 / variance are
 * chosen to match mean and variance. For a Poisson mean we take Jeffreys' interval, the quantiles of a gamma law with shape
 * k + 1/2, whose coverage lies near the nominal one also for small k (Brown, Cai, DasGupta, "Interval estimation in
 * exponential families", 2003). When every block is sampled the variance is 0 and the interval is the number itself.
 * Gamma quantiles by Wilson and Hilferty (1931), good to a percent for shapes from 1/2 upwards.
 */
#include "analysis/estimate.h"

#include <math.h>

static const double z_95 = 1.959963984540054; /* the 97.5 % quantile of the normal law */

/* The 97.5 % quantile of the gamma law with shape 1/2: half that of chi-square with one degree of freedom. */
static const double no_sample_bound = 2.511943092;

static double gamma_quantile(double shape, double z) {
  double root = 1 - 1 / (9 * shape) + z / (3 * sqrt(shape));
  return root > 0 ? shape * root * root * root : 0;
}

/* ---- shared ---- */

double inclusion_probability(double rate, uint64_t words) {
  if (rate >= 1) return 1;
  return -expm1((double)words * log1p(-rate));
}

void sum_add(struct sum *sum, double y, double p) {
  sum->total += y / p;
  sum->variance += y * y * (1 - p) / (p * p);
  sum->samples++;
}

void sum_merge(struct sum *sum, const struct sum *other) {
  sum->total += other->total;
  sum->variance += other->variance;
  sum->samples += other->samples;
}

struct estimate estimate_of(const struct sum *sum, double unit) {
  struct estimate result = {sum->total, sum->total, sum->total, sum->samples};
  if (!sum->samples) {
    result.high = no_sample_bound * unit;
  } else if (sum->variance > 0 && sum->total > 0) {
    double scale = sum->variance / sum->total, shape = sum->total / scale + 0.5;
    result.low = scale * gamma_quantile(shape, -z_95);
    result.high = scale * gamma_quantile(shape, z_95);
    if (result.low > result.estimate) result.low = result.estimate;
  }
  return result;
}
/* SPDX-License-Identifier: MIT */
