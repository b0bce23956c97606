/* Estimates and intervals.
 *
 * Each word is sampled independently with probability `rate`, so a block of w words is in the sample with probability
 * p = 1 - (1 - rate)^w, independently of other blocks: Poisson sampling of blocks. The estimator is Horvitz and Thompson's
 * (1952): the total of y is the sum of y/p over the sampled blocks. Its variance is the sum of y^2 (1-p)/p over all
 * blocks, estimated from the sample by the sum of y^2 (1-p)/p^2. Both are exact for any mixture of sizes.
 *
 * Interval: a sampled block with y/p = t and variance share v behaves like v/t times a Poisson count of p/(1-p), so the
 * total behaves like c times a Poisson count k, where c = variance / total and k = total^2 / variance match mean and
 * variance. For a Poisson mean we take Jeffreys' interval, the quantiles of a gamma law with shape k + 1/2, whose coverage
 * lies near the nominal one also for small k (Brown, Cai, DasGupta, "Interval estimation in exponential families", 2003).
 * That is to count half an event more than was seen. Where weights differ, the unseen event is more likely one of great
 * weight, so for the upper end the half event has the largest weight in the sample (M. Fay and E. Feuer, "Confidence
 * intervals for directly standardized rates", 1997, count a whole one, which covers too often); for equal weights both are
 * Jeffreys' interval. The total is never less than what the sampled blocks have themselves. When every block is sampled
 * the variance is 0 and the interval is the number itself. tests/analysis/test_coverage.c measures the coverage.
 *
 * Shares. A part Y of a whole and the rest Z of it are sums over different blocks, so they are independent, and the share
 * Y / (Y + Z) follows from the odds Y / Z. Linearised, the variance of its logarithm is that of log Y plus that of log Z.
 * With few samples neither is normal, so the distances from the estimate to the ends of the intervals of Y and of Z stand
 * for the standard errors (G. Zou and A. Donner, "Construction of confidence limits about effect measures", 2008): the
 * lower end has Y low and Z high, the upper end the reverse. An end that rests on no sample at all is taken from the bound
 * of the side without samples alone.
 */
#include "analysis/estimate.h"

#include <math.h>

static const double z_95 = 1.959963984540054; /* the 97.5 % quantile of the normal law */

/* The 97.5 % quantile of the gamma law with shape 1/2: half that of chi-square with one degree of freedom. */
static const double no_sample_bound = 2.511943092;

enum { SHAPE_LARGE = 60, STEPS_MOST = 40 };

/* By Wilson and Hilferty (1931). Good to a thousandth for shapes beyond SHAPE_LARGE, rough for small ones. */
static double gamma_quantile_rough(double shape, double z) {
  double root = 1 - 1 / (9 * shape) + z / (3 * sqrt(shape));
  return root > 0 ? shape * root * root * root : 0;
}

/* The distribution function of the gamma law, by its series; for shapes up to SHAPE_LARGE. */
static double gamma_below(double shape, double x) {
  double term = 1 / shape, sum = term;
  for (int n = 1; n < 1000 && term > sum * 1e-15; n++) {
    term *= x / (shape + n);
    sum += term;
  }
  return sum * exp(shape * log(x) - x - lgamma(shape));
}

/* Bisection, with Newton's step wherever it stays inside. */
static double gamma_quantile(double shape, double z) {
  double x = gamma_quantile_rough(shape, z), low = 0, high = 4 * shape + 20;
  if (shape > SHAPE_LARGE) return x;
  double wanted = z < 0 ? 0.025 : 0.975;
  if (x <= 0)
    x = pow(wanted * exp(lgamma(shape + 1)), 1 / shape); /* P(x) = x^shape / Gamma(shape + 1) near 0 */
  for (int step = 0; step < STEPS_MOST; step++) {
    double error = gamma_below(shape, x) - wanted;
    if (error > 0)
      high = x;
    else
      low = x;
    double next = x - error / exp((shape - 1) * log(x) - x - lgamma(shape));
    if (!(next > low && next < high)) next = (low + high) / 2;
    if (fabs(next - x) <= 1e-10 * x) break;
    x = next;
  }
  return x;
}

/* The upper end: half an event of the largest weight more than was seen. */
static double upper_end(const struct sum *sum) {
  double total = sum->total + sum->largest / 2, variance = sum->variance + sum->largest * sum->largest / 2;
  return variance / total * gamma_quantile(total * total / variance, z_95);
}

/* What of a whole is not the part. */
static struct sum rest_of(const struct sum *whole, const struct sum *part) {
  if (whole->samples <= part->samples) return (struct sum){0};
  struct sum rest = {.total = whole->total - part->total,
                     .variance = fmax(whole->variance - part->variance, 0),
                     .seen = whole->seen - part->seen,
                     .largest = whole->largest,
                     .samples = whole->samples - part->samples};
  rest.total = fmax(rest.total, rest.seen);
  return rest;
}

/* How far the logarithm of a positive number may be off, from one end of its interval. */
static double log_distance(double a, double b) { return a > 0 && b > 0 ? fabs(log(a / b)) : INFINITY; }

static double share_of_odds(double odds) { return isinf(odds) ? 1 : odds / (1 + odds); }

/* ---- shared ---- */

double inclusion_probability(double rate, uint64_t words) {
  if (rate >= 1) return 1;
  return -expm1((double)words * log1p(-rate));
}

double growth_variance(double y, double p, double before) {
  return y * y * (1 - p) / (p * p) + 2 * y * (1 - p) / p * before;
}

void sum_add_dependent(struct sum *sum, double y, double p, double variance) {
  sum->total += y / p;
  sum->seen += y;
  sum->variance += variance;
  if (y > 0 && variance * p / y > sum->largest) sum->largest = variance * p / y;
  sum->samples++;
}

void sum_add(struct sum *sum, double y, double p) { sum_add_dependent(sum, y, p, growth_variance(y, p, 0)); }

void sum_merge(struct sum *sum, const struct sum *other) {
  sum->total += other->total;
  sum->seen += other->seen;
  sum->variance += other->variance;
  if (other->largest > sum->largest) sum->largest = other->largest;
  sum->samples += other->samples;
}

struct estimate estimate_of(const struct sum *sum, double unit) {
  struct estimate result = {sum->total, sum->total, sum->total, sum->samples};
  if (!sum->samples) {
    result.high = no_sample_bound * unit;
  } else if (sum->variance > 0 && sum->total > 0) {
    double scale = sum->variance / sum->total;
    result.low = scale * gamma_quantile(sum->total / scale + 0.5, -z_95);
    result.high = upper_end(sum);
    if (result.low < sum->seen) result.low = sum->seen;
    if (result.low > result.estimate) result.low = result.estimate;
    if (result.high < result.estimate) result.high = result.estimate;
  }
  return result;
}

struct estimate share_of(const struct sum *part, const struct sum *whole, double unit) {
  struct sum others = rest_of(whole, part);
  struct estimate y = estimate_of(part, unit), z = estimate_of(&others, unit);
  struct estimate result = {0, 0, 1, part->samples};
  if (y.estimate + z.estimate <= 0) return result;
  result.estimate = y.estimate / (y.estimate + z.estimate);
  if (y.estimate <= 0) {
    result.high = y.high / (y.high + z.estimate);
  } else if (z.estimate <= 0) {
    result.low = y.estimate / (y.estimate + z.high);
  } else {
    double odds = y.estimate / z.estimate;
    double down = hypot(log_distance(y.estimate, y.low), log_distance(z.high, z.estimate));
    double up = hypot(log_distance(y.high, y.estimate), log_distance(z.estimate, z.low));
    result.low = down > 0 ? fmin(share_of_odds(odds * exp(-down)), result.estimate) : result.estimate;
    result.high = up > 0 ? fmax(share_of_odds(odds * exp(up)), result.estimate) : result.estimate;
  }
  return result;
}
/* SPDX-License-Identifier: MIT */
