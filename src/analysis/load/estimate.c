/* Estimates and intervals.
 *
 * Each word is sampled independently with probability `rate`, so a block of w words is in the
 * sample with probability p = 1 - (1 - rate)^w, independently of other blocks: Poisson sampling of
 * blocks. The estimator is Horvitz and Thompson's (1952): the total of y is the sum of y/p over the
 * sampled blocks. Its variance is the sum of y^2 (1-p)/p over all blocks, estimated from the sample
 * by the sum of y^2 (1-p)/p^2. Both are unbiased for any mixture of sizes.
 *
 * Interval. The sum `seen` of the sampled blocks themselves is known. Only the unseen total U =
 * total - seen is uncertain. A sampled block of probability p stands for a number of unsampled
 * blocks. If all such numbers are equally likely beforehand on a logarithmic scale, this number
 * has, given the sample, a geometric distribution with the mean (1 - p)/p. The sum of these numbers
 * over the sample has the mean U and the variance V above. Its distribution is approximated by c
 * times a gamma distribution of shape k, with c = V/U and k = U^2/V. For blocks of one size and a
 * small p, k is the number of samples, and the distribution is exact: that of a Poisson mean, given
 * k events.
 *
 * Upper end: the 97.5 % quantile. It counts a tenth of an event more than the sample has, because
 * blocks may exist of sizes that are not in the sample, most likely small ones. An event (`unit`)
 * is what one sample of a small block stands for. For bytes it is 8 / rate, whatever the size of
 * the small block. For a count of blocks it is 1/p, which is not known for a size without a sample:
 * the mean of 1/p over all blocks of the trace replaces it, estimated by the sum of 1/p^2 over the
 * sum of 1/p. A trace with few samples may lack its most frequent size. So both sums count ten more
 * samples, of the smallest size; among thousands of samples these matter little. The tenth was
 * found by measuring (tests/analysis/thinned.c).
 *
 * Blocks that grow. When realloc makes a block larger again and again, the trace has all calls from
 * the block's first sample on, and their number is chance. Let each call make the block 1/g as
 * large. For g near 1 the weight of one block in the estimate has an exponential distribution; for
 * large steps its relative variance is about g. For n such blocks the sum of the squared weights is
 * on average 2/(n + 1) of the squared sum, where n times the true mean square would be 2/n of it.
 * So an estimate that is too small comes with a variance that is too small, the more so the fewer
 * the blocks are. But a block with equal g in all steps has 1/(1 - g) calls from its first sample
 * on, on average. Let T be the estimate, and T' the estimate that would result if this number of
 * calls were known of each block. At the upper end the unseen total is multiplied by
 *
 *   (1.65 max(T'/T, 1))^(x/(2 - x)),
 *
 * where x is the share of V/U^2 that the calls of growing blocks have, each call's share times its
 * g. If all blocks grow in small steps, x/(2 - x) is 1/n. The unseen total at the upper end is also
 * at least what the sampled blocks themselves most likely had from calls before their first sample:
 * for a single large buffer that is most of it.
 *
 * Lower end: the 2.5 % quantile for one event less. A report shows a row because the row has a
 * sample. This one sample says nothing about how much there is; the other samples do. So the lower
 * end of a row with one sample is `seen`. Such an interval can miss the truth only on the upper
 * side, and its upper end is the 95 % quantile.
 *
 * The distribution is that of a row that is shown because it has samples. The interval of a sum
 * that was chosen beforehand, such as the total of a run, holds the truth as often, but its upper
 * end errs a little more often than its lower end (tests/analysis/test_coverage.c). At rate 1 the
 * interval is the number itself.
 *
 * Sources: for the gamma distribution of weighted Poisson sums, M. Fay and E. Feuer, "Confidence
 * intervals for directly standardized rates", 1997; for conditioning on having been seen, D.
 * Yekutieli, "Adjusted Bayesian inference for selected parameters", Journal of the Royal
 * Statistical Society B 74, 2012.
 *
 * Shares. A part Y of a whole and the rest Z of the whole are sums over different blocks, so they
 * are independent, and the share Y / (Y + Z) follows from the odds Y / Z. By linearisation, the
 * variance of log (Y / Z) is that of log Y plus that of log Z. With few samples neither logarithm
 * is normal, so the distances from the estimates to the ends of the intervals of Y and of Z replace
 * the standard errors (G. Zou and A. Donner, "Construction of confidence limits about effect
 * measures", 2008): the lower end of the share takes the low end of Y and the high end of Z, the
 * upper end the reverse. When the low end of Y is about what was seen of Y, Y may well be just
 * that. The distance to that end is then no tail of a distribution, and the lower end of the share
 * is at most the one that Y = seen and the high end of Z give. When Y has no sample, the lower end
 * is 0 and the upper end takes the high end of Y alone; when Z has none, the upper end is 1 and the
 * lower end takes the high end of Z alone.
 *
 * Differences. At each end the distance of Y - Z is the root of the sum of the squared distances to
 * those ends of the two intervals that move the difference that way (G. Zou and A. Donner,
 * "Construction of confidence limits about effect measures: a general approach", Statistics in
 * Medicine 27, 2008). For this the upper end of each of the two counts what the other one's sample
 * shows to exist. Where one run has sampled a block that is missed in six of ten runs, the other run
 * may have that block as well, although the blocks that it has sampled are all certain. So half an
 * event of the other one's c = V/U is added to the mean and the variance, in place of a tenth of an
 * event of the smallest size: the half of Jeffreys' prior for a Poisson mean. A near-certain block
 * has next to no unseen twins: no more is added than the k of the other one.
 */
#include "analysis/load/estimate.h"

#include <math.h>

/* A quantile: its probability, and the value at which the normal distribution has it. */
struct level {
  double probability, z;
};
static const struct level level_low = {0.025, -1.959963984540054}, level_high = {0.975, 1.959963984540054},
                          level_high_alone = {0.95, 1.644853626951473};

/* The 97.5 % quantile of the gamma distribution of shape 1/2: half that of the chi-square
 * distribution with one degree of freedom. */
static const double no_sample_bound = 2.511943092;

/* A lower end that exceeds `seen` by less than this fraction is `seen`: all blocks may be in the
 * sample. */
static const double worth_adding = 0.002;

/* Events that the upper end counts for sizes without a sample. */
static const double events_added = 0.1;

/* Events that a difference adds for what only the other sample has. */
static const double events_of_the_other = 0.5;

/* The logarithm of the factor 1.65 above, found by measuring (tests/analysis/test_rows.c). */
static const double growth_widening = 0.5;

/* The smallest usual block has two words and a header. SMALL_BLOCKS_ADDED blocks of that size count
 * as if they had been sampled. */
enum { SMALL_BLOCK_WORDS = 3, SMALL_BLOCKS_ADDED = 10 };

enum { SHAPE_LARGE = 60, STEPS_MOST = 100 };

/* The approximation of Wilson and Hilferty (1931): good to a thousandth for shapes above
 * SHAPE_LARGE, rough for small shapes. */
static double gamma_quantile_rough(double shape, double z) {
  double root = 1 - 1 / (9 * shape) + z / (3 * sqrt(shape));
  return root > 0 ? shape * root * root * root : 0;
}

/* The distribution function of the gamma distribution, by its series; for shapes up to SHAPE_LARGE.
 */
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

/* A quantile of c times the gamma distribution of shape k, with c and k from this mean and
 * variance, and k less by `fewer` events. */
static double unseen_quantile(double mean, double variance, double fewer, struct level level) {
  if (mean <= 0 || variance <= 0) return mean;
  return variance / mean * gamma_quantile(mean * mean / variance - fewer, level);
}

/* The upper end of the unseen total. It is at least the upper end for the sizes without a sample
 * alone: beside one large block that is nearly certain to be in the sample, those would be lost in
 * the common distribution. */
static double unseen_most(double unseen, double variance, double unit) {
  struct level level = unseen * unseen <= variance ? level_high_alone : level_high;
  double mean = events_added * unit;
  double common = unseen_quantile(unseen + mean, variance + mean * unit, 0, level);
  return unit > 0 ? fmax(common, unit * gamma_quantile(events_added, level_high)) : common;
}

/* The x of the head comment, 0 to 1: growth * 2 / (n + 1) for n blocks that grow alike. */
static double clustering_of(const struct sum *sum, double unseen) {
  return unseen > 0 ? fmin(sum->clustered / (unseen * unseen), 1) : 0;
}

static double widening(const struct sum *sum, double clustering) {
  if (clustering <= 0) return 1;
  double calls = log(fmax(sum->typical / sum->total, 1));
  return exp((growth_widening + calls) * clustering / (2 - clustering));
}

/* The mean of 1/p over the blocks that `all` counts and SMALL_BLOCKS_ADDED more, each of the weight
 * `smallest`. The sum of 1/p^2 over the sample is the variance plus the total. */
static double mean_weight(const struct sum *all, double smallest) {
  double added = SMALL_BLOCKS_ADDED * smallest;
  return (all->variance + all->total + added * smallest) / (all->total + added);
}

/* The rest of a whole without a part of it. */
static struct sum estimate_rest_of(const struct sum *whole, const struct sum *part) {
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

/* The distance between the logarithms of an estimate and of one end of its interval. */
static double log_distance(double a, double b) { return a > 0 && b > 0 ? fabs(log(a / b)) : INFINITY; }

static double share_of_odds(double odds) { return isinf(odds) ? 1 : odds / (1 + odds); }

/* The lower end of the share that y, the estimate of `sum`, has of y and z together. */
static double share_low(const struct sum *sum, const struct estimate *y, const struct estimate *z) {
  double up = log_distance(z->high, z->estimate);
  double down = hypot(log_distance(y->estimate, y->low), up);
  double low = share_of_odds(y->estimate / z->estimate * exp(-down));
  /* The sum may well be no more than `seen`: then the whole distance of z counts. */
  if (log_distance(y->low, sum->seen) < up) low = fmin(low, sum->seen / (sum->seen + z->high));
  return low;
}

/* The high end of an estimate if it may have blocks as another one has, though its sample has none.
 */
static double high_beside(const struct estimate *of, const struct estimate *other) {
  double unseen = other->estimate - other->seen;
  if (other->variance <= 0 || unseen <= 0) return of->high;
  double event = other->variance / unseen, added = fmin(events_of_the_other, unseen / event);
  double mean = of->estimate - of->seen + added * event, variance = of->variance + added * event * event;
  return fmax(of->high, of->seen + unseen_quantile(mean, variance, 0, level_high));
}

/* ---- shared ---- */

double inclusion_probability(double rate, uint64_t words) {
  if (rate > 1) return 1 / (double)words; /* TOTALS in sources/source.h */
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
  struct estimate result = {sum->total, sum->total, sum->total, sum->samples, sum->seen, sum->variance};
  if (unit < 0) { /* EXACT_UNIT */
    result.seen = sum->total;
    result.variance = 0;
    return result;
  }
  double unseen = fmax(sum->total - sum->seen, 0), clustering = clustering_of(sum, unseen);
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
  return count_of_large(count, all, rate, SMALL_BLOCK_WORDS);
}

struct estimate count_of_large(const struct sum *count, const struct sum *all, double rate,
                               uint64_t least_words) {
  if (rate <= 0 || rate >= 1) return estimate_of(count, rate > 1 ? EXACT_UNIT : 0);
  uint64_t words = least_words > SMALL_BLOCK_WORDS ? least_words : SMALL_BLOCK_WORDS;
  double smallest = 1 / inclusion_probability(rate, words);
  return estimate_of(count, count->samples ? mean_weight(all, smallest) : smallest);
}

struct estimate share_of(const struct sum *part, const struct sum *whole, double unit) {
  struct sum others = estimate_rest_of(whole, part);
  struct estimate y = estimate_of(part, unit), z = estimate_of(&others, unit);
  struct estimate result = {.high = 1, .samples = part->samples};
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

struct estimate ratio_of(const struct estimate *one, const struct estimate *other) {
  double ratio = one->estimate / other->estimate;
  double down = hypot(log_distance(one->estimate, one->low), log_distance(other->high, other->estimate)),
         up = hypot(log_distance(one->high, one->estimate), log_distance(other->estimate, other->low));
  return (struct estimate){.estimate = ratio,
                           .low = ratio * exp(-down),
                           .high = ratio * exp(up),
                           .samples = one->samples + other->samples};
}

struct estimate estimate_times(const struct estimate *estimate, const struct estimate *factor) {
  double number = estimate->estimate, times = factor->estimate, product = number * times;
  double down = hypot((number - estimate->low) * times, number * (times - factor->low)),
         up = hypot((estimate->high - number) * times, number * (factor->high - times));
  double low = down < product ? product - down : 0;
  return (struct estimate){.estimate = product,
                           .low = low,
                           .high = product + up,
                           .samples = estimate->samples,
                           .seen = estimate->seen * times,
                           .variance = estimate->variance * times * times};
}

struct estimate difference_of(const struct estimate *one, const struct estimate *other) {
  double difference = one->estimate - other->estimate;
  double other_up = high_beside(other, one) - other->estimate,
         one_up = high_beside(one, other) - one->estimate;
  return (struct estimate){.estimate = difference,
                           .low = difference - hypot(one->estimate - one->low, other_up),
                           .high = difference + hypot(one_up, other->estimate - other->low),
                           .samples = one->samples + other->samples};
}
/* SPDX-License-Identifier: MIT */
