/* Estimates and intervals.
 *
 * Each word is sampled independently with probability `rate`, so a block of w words is in the
 * sample with probability p = 1 - (1 - rate)^w, independently of other blocks: Poisson sampling of
 * blocks. The estimator is Horvitz and Thompson's (1952): the total of y is the sum of y/p over the
 * sampled blocks. Its variance is the sum of y^2 (1-p)/p over all blocks, estimated from the sample
 * by the sum of y^2 (1-p)/p^2. Both are exact for any mixture of sizes.
 *
 * Interval. What the sampled blocks have themselves is known; the law is about the rest, the unseen
 * total U = total - seen. A sampled block of probability p stands for a number of unseen ones that,
 * given the sample, follows a geometric law of mean (1 - p)/p if all numbers are equally likely on
 * a logarithmic scale. The sum of these over the sample has the mean U and the variance above. We
 * take it for c times a gamma law of shape k, with c = variance / U and k = U^2 / variance. For
 * equal blocks and a small p, k is the number of samples and the law is exact: that of a Poisson
 * mean, given k events.
 *
 * Upper end: the 97.5 % quantile. A tenth of an event of `unit` is counted besides, because there
 * may be blocks of sizes that are not in the sample, most likely small ones. The tenth was found by
 * measuring (tests/analysis/thinned.c). Of bytes an event is 8 / rate, whatever the size of a small
 * block. Of a count of blocks it is 1/p, which is not known for a block without a sample: we take
 * the mean of 1/p over all blocks of the trace, estimated by the sum of 1/p^2 over the sum of 1/p.
 * A trace with few samples may have none of its most frequent size. So ten samples of the smallest
 * size are counted besides; among thousands of others they matter little.
 *
 * Blocks that grow. Of a block that realloc makes larger again and again, the calls from the first
 * sample on are known, all of them; how many that are is chance. Where each call makes it 1/g as
 * large, g near to 1, a block's weight in the estimate follows an exponential law; for large steps
 * its relative variance is about g. Of n such blocks the sum of the squared weights is 2/(n + 1) of
 * the squared sum on average, where n times the mean square would be 2/n: estimate and variance are
 * small together, the more so the fewer blocks. But g says how many calls such a block has from its
 * first sample on if its steps are alike, 1/(1 - g), so T' is known, the estimate that would be if
 * of each block as many calls were known. At the upper end the unseen is multiplied by
 *   (1.65 max(T'/T, 1))^(x/(2 - x)),
 * where x is what blocks that grow have of V/U^2, each call times its g. If all blocks grow in
 * small steps, x/(2 - x) is 1/n. And it is no less than what the sampled blocks themselves had from
 * calls before, if those steps were alike: of a large buffer that is most.
 *
 * Lower end: the 2.5 % quantile for one event less. A row of a report is there because a sample
 * fell on it. That one sample says nothing about how much there is, the others do. So the lower end
 * of a row with one sample is what was seen. Such an interval errs on one side only, and its upper
 * end is the 95 % quantile.
 *
 * The law is for a row that was chosen for having samples. It covers as often for a sum that was
 * chosen beforehand, such as the total of a run: there the upper end errs a little more often than
 * the lower one (tests/analysis/test_coverage.c). At rate 1 the interval is the number itself.
 *
 * Sources: the gamma law of weighted Poisson sums, M. Fay and E. Feuer, "Confidence intervals for
 * directly standardized rates", 1997; that what is selected for being seen needs a law given that
 * it was seen, D. Yekutieli, "Adjusted Bayesian inference for selected parameters", Journal of the
 * Royal Statistical Society B 74, 2012.
 *
 * Shares. A part Y of a whole and the rest Z of it are sums over different blocks, so they are
 * independent, and the share Y / (Y + Z) follows from the odds Y / Z. Linearised, the variance of
 * its logarithm is that of log Y plus that of log Z. With few samples neither is normal, so the
 * distances from the estimate to the ends of the intervals of Y and of Z stand for the standard
 * errors (G. Zou and A. Donner, "Construction of confidence limits about effect measures", 2008):
 * the lower end has Y low and Z high, the upper end the reverse. Often one of them is no more than
 * what was seen: that is no tail of a law, so the whole distance of the other counts. An end that
 * rests on no sample at all is taken from the bound of the side without samples alone.
 */
#include "analysis/estimate.h"

#include <math.h>

/* A quantile of a law: its probability, and that of the normal law. */
struct level {
  double probability, z;
};
static const struct level level_low = {0.025, -1.959963984540054}, level_high = {0.975, 1.959963984540054},
                          level_high_alone = {0.95, 1.644853626951473};

/* The 97.5 % quantile of the gamma law with shape 1/2: half that of chi-square with one degree of
 * freedom. */
static const double no_sample_bound = 2.511943092;

/* What is certain, because it was seen, is not passed by less than this part: there may be no
 * more. */
static const double worth_adding = 0.002;

/* Events of `unit` that are counted for sizes without a sample. */
static const double events_besides = 0.1;

/* By how much the upper end for one block that grows in many small steps is larger besides: its
 * logarithm. Found by measuring (tests/analysis/test_rows.c). */
static const double growth_widening = 0.5;

/* The clustering of three blocks that grow by a half, and of four that grow in small steps. */
static const double of_few_blocks = 0.4;

/* The smallest blocks that are usual have two words and a header. So many of them count as if they
 * had been sampled. */
enum { SMALL_BLOCK_WORDS = 3, SMALL_BLOCKS_BESIDES = 10 };

enum { SHAPE_LARGE = 60, STEPS_MOST = 100 };

/* By Wilson and Hilferty (1931). Good to a thousandth for shapes beyond SHAPE_LARGE, rough for
 * small ones. */
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
static double gamma_quantile(double shape, struct level level) {
  double x = gamma_quantile_rough(shape, level.z), low = 0, high = 4 * shape + 20;
  if (shape <= 0) return 0;
  if (shape > SHAPE_LARGE) return x;
  if (x <= 0) /* P(x) = x^shape / Gamma(shape + 1) near 0 */
    x = fmin(pow(level.probability * exp(lgamma(shape + 1)), 1 / shape), shape);
  for (int step = 0; step < STEPS_MOST && x > 1e-12; step++) {
    double error = gamma_below(shape, x) - level.probability;
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

/* A quantile of c times the gamma law of shape k that have this mean and variance, for `fewer`
 * events less. */
static double unseen_quantile(double mean, double variance, double fewer, struct level level) {
  if (mean <= 0 || variance <= 0) return mean;
  return variance / mean * gamma_quantile(mean * mean / variance - fewer, level);
}

/* The most that may be unseen. Sizes without a sample also count alone: beside one block that is
 * large and nearly certain to be in the sample, they would be lost in a common law. */
static double unseen_most(double unseen, double variance, double unit) {
  struct level level = unseen * unseen <= variance ? level_high_alone : level_high;
  double mean = events_besides * unit;
  double common = unseen_quantile(unseen + mean, variance + mean * unit, 0, level);
  return unit > 0 ? fmax(common, unit * gamma_quantile(events_besides, level_high)) : common;
}

/* How much of the unseen rests on few blocks that grow: growth * 2 / (n + 1) for n alike. */
static double clustering_of(const struct sum *sum, double unseen) {
  return unseen > 0 ? fmin(sum->clustered / (unseen * unseen), 1) : 0;
}

static double widening(const struct sum *sum, double clustering) {
  if (clustering <= 0) return 1;
  double calls = log(fmax(sum->typical / sum->total, 1));
  return exp((growth_widening + calls) * clustering / (2 - clustering));
}

/* The mean of 1/p over the blocks that `all` counts and over those that are counted besides, each
 * of the weight `smallest`. The sum of 1/p^2 over the sample is the variance plus the total. */
static double mean_weight(const struct sum *all, double smallest) {
  double besides = SMALL_BLOCKS_BESIDES * smallest;
  return (all->variance + all->total + besides * smallest) / (all->total + besides);
}

/* What of a whole is not the part. */
static struct sum rest_of(const struct sum *whole, const struct sum *part) {
  if (whole->samples <= part->samples) return (struct sum){0};
  struct sum rest = {.total = whole->total - part->total,
                     .variance = fmax(whole->variance - part->variance, 0),
                     .seen = whole->seen - part->seen,
                     .clustered = fmax(whole->clustered - part->clustered, 0),
                     .typical = whole->typical - part->typical,
                     .earlier = fmax(whole->earlier - part->earlier, 0),
                     .samples = whole->samples - part->samples};
  rest.total = fmax(rest.total, rest.seen);
  return rest;
}

/* How far the logarithm of a positive number may be off, from one end of its interval. */
static double log_distance(double a, double b) { return a > 0 && b > 0 ? fabs(log(a / b)) : INFINITY; }

static double share_of_odds(double odds) { return isinf(odds) ? 1 : odds / (1 + odds); }

/* The lower end of the share that y, an estimate of `sum`, has of y and z together. */
static double share_low(const struct sum *sum, const struct estimate *y, const struct estimate *z) {
  double beside = log_distance(z->high, z->estimate);
  double down = hypot(log_distance(y->estimate, y->low), beside);
  double low = share_of_odds(y->estimate / z->estimate * exp(-down));
  /* A sum may well be what was seen and no more: then all of the other's distance counts. */
  if (log_distance(y->low, sum->seen) < beside) low = fmin(low, sum->seen / (sum->seen + z->high));
  return low;
}

/* ---- shared ---- */

double inclusion_probability(double rate, uint64_t words) {
  if (rate >= 1) return 1;
  return -expm1((double)words * log1p(-rate));
}

double growth_variance(double y, double p, double before) {
  return y * y * (1 - p) / (p * p) + 2 * y * (1 - p) / p * before;
}

void sum_add_dependent(struct sum *sum, double y, double p, const struct dependence *dependence) {
  sum->total += y / p;
  sum->seen += y;
  sum->variance += dependence->variance;
  sum->clustered += dependence->growth * dependence->variance;
  sum->typical += y / p * dependence->typical;
  sum->earlier += dependence->earlier;
  sum->samples++;
}

void sum_add(struct sum *sum, double y, double p) {
  sum_add_dependent(sum, y, p, &(struct dependence){.variance = growth_variance(y, p, 0), .typical = 1});
}

void sum_add_weighted(struct sum *sum, double y, const struct weight *weight) {
  sum->total += y * weight->factor;
  sum->seen += y * weight->seen;
  sum->variance += y * y * weight->variance;
  sum->samples += weight->sample;
}

void sum_merge(struct sum *sum, const struct sum *other) {
  sum->total += other->total;
  sum->seen += other->seen;
  sum->variance += other->variance;
  sum->clustered += other->clustered;
  sum->typical += other->typical;
  sum->earlier += other->earlier;
  sum->samples += other->samples;
}

struct estimate estimate_of(const struct sum *sum, double unit) {
  struct estimate result = {sum->total, sum->total, sum->total, sum->samples, false};
  double unseen = fmax(sum->total - sum->seen, 0), clustering = clustering_of(sum, unseen);
  result.few_blocks = sum->samples && (sum->samples <= 2 || clustering >= of_few_blocks);
  if (!sum->samples) {
    result.high += no_sample_bound * unit;
  } else if (sum->variance > 0 || unit > 0) {
    result.low = sum->seen + unseen_quantile(unseen, sum->variance, 1, level_low);
    double most = unseen_most(unseen, sum->variance, unit) * widening(sum, clustering);
    result.high = sum->seen + fmax(most, sum->earlier);
    if (result.low - sum->seen < worth_adding * sum->seen) result.low = sum->seen;
    if (result.low > result.estimate) result.low = result.estimate;
    if (result.high < result.estimate) result.high = result.estimate;
  }
  return result;
}

struct estimate count_of(const struct sum *count, const struct sum *all, double rate) {
  if (rate <= 0 || rate >= 1) return estimate_of(count, 0);
  double smallest = 1 / inclusion_probability(rate, SMALL_BLOCK_WORDS);
  return estimate_of(count, count->samples ? mean_weight(all, smallest) : smallest);
}

struct estimate share_of(const struct sum *part, const struct sum *whole, double unit) {
  struct sum others = rest_of(whole, part);
  struct estimate y = estimate_of(part, unit), z = estimate_of(&others, unit);
  struct estimate result = {0, 0, 1, part->samples, y.few_blocks};
  if (y.estimate + z.estimate <= 0) return result;
  result.estimate = y.estimate / (y.estimate + z.estimate);
  if (y.estimate <= 0) {
    result.high = y.high / (y.high + z.estimate);
  } else if (z.estimate <= 0) {
    result.low = y.estimate / (y.estimate + z.high);
  } else {
    result.low = fmin(share_low(part, &y, &z), result.estimate);
    result.high = fmax(1 - share_low(&others, &z, &y), result.estimate);
  }
  return result;
}

struct estimate difference_of(const struct estimate *one, const struct estimate *other) {
  double difference = one->estimate - other->estimate;
  return (struct estimate){difference,
                           difference - hypot(one->estimate - one->low, other->high - other->estimate),
                           difference + hypot(one->high - one->estimate, other->estimate - other->low),
                           one->samples + other->samples, one->few_blocks || other->few_blocks};
}
/* SPDX-License-Identifier: MIT */
