/* Estimates with their intervals, from blocks that were sampled with known probabilities. A caller
 * adds the rows that its question counts to a `struct sum`, and asks for the estimate of the sum,
 * of a share of two sums, or of a difference. estimate.c explains the method and names the sources.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The sums over the rows that were added, from which the estimate and its interval are computed.
 * All zeros is the empty sum. p is the inclusion probability of a row's block. */
struct sum {
  double total;     /* sum of y / p: unbiased for the sum of y over all blocks, sampled or not */
  double variance;  /* sum of y^2 (1 - p) / p^2: unbiased for the variance of `total` */
  double seen;      /* sum of y: the total is no less */
  double clustered; /* the part of `variance` that calls of growing blocks have, each times its growth */
  double typical;   /* the total, if each growing block had a typical number of known calls */
  double earlier;   /* what growing blocks most likely had from calls before their first sample */
  uint64_t samples; /* rows that were added, except those whose weight says that they are no sample */
};

/* A number and its interval. Over all sums that have a sample, in all runs, 95 % of the intervals
 * hold the true value. */
struct estimate {
  double estimate, low, high;
  uint64_t samples;
  double seen, variance; /* of the sum, for differences; 0 where they are not known */
};

/* Whether an estimate gives little more than the order of magnitude: it has samples, and its
 * interval spans more than a factor of five, as that of seven small blocks does. One sample of a large
 * block suffices for less. */
static inline bool estimate_is_rough(const struct estimate *estimate) {
  return estimate->samples && estimate->high > 5 * estimate->low;
}

/* The probability that a block of so many words takes at least one sample: 1 - (1 - rate)^words. Above
 * the rate 1, where samples are totals and `words` their blocks, the inverse of that number. */
double inclusion_probability(double rate, uint64_t words);

/* Adds a block: as sum_add_dependent, of a block that has no other calls. */
static inline void sum_add(struct sum *sum, double y, double p) {
  double total = y / p;
  sum->total += total;
  sum->seen += y;
  sum->variance += y * y * (1 - p) / (p * p);
  sum->typical += total;
  sum->samples++;
}

/* How one sampled block counts where its weight is not 1/p. */
struct weight {
  double factor;   /* y times this is added to the estimate */
  double seen;     /* this block itself contributes y times this to the true value, for certain */
  double variance; /* y^2 times this is added to the variance */
  bool sample;     /* the row counts in `samples` */
};
void sum_add_weighted(struct sum *sum, double y, const struct weight *weight);

/* How the y of one call counts, where a block has several: one for each call that made it larger.
 * These are not independent. */
struct dependence {
  double variance; /* of growth_variance */
  double growth;   /* the size before the call divided by the size after it, 0 to 1; 0 if it never grew */
  double typical;  /* the expected number of calls of such a block divided by the number known; or 1 */
  double earlier;  /* at the first known call: the y of the calls before it, if their steps were alike */
};
void sum_add_dependent(struct sum *sum, double y, double p, const struct dependence *dependence);

/* What y, which counts if the block is in the sample with probability p, adds to the variance of a
 * total. `before` is the sum of y / p that earlier calls of the same block gave to that total, when
 * p was no greater. */
double growth_variance(double y, double p, double before);

void sum_merge(struct sum *sum, const struct sum *other);

/* Estimates a sum. `unit` is what one sample of a small block stands for: 8 / rate for bytes, 1 / p
 * for blocks, 0 at rate 1. It sets the upper end for sizes without a sample. EXACT_UNIT: the sum is
 * of totals, whose weights leave nothing to chance, and its estimate is exact. */
#define EXACT_UNIT (-1.0)
struct estimate estimate_of(const struct sum *sum, double unit);

/* Estimates a count of some of the blocks that `all` counts; `all` is the whole trace. The unit is
 * the mean 1 / p of a block of the trace; if `count` has no sample, 1 / p of the smallest block. */
struct estimate count_of(const struct sum *count, const struct sum *all, double rate);

/* The same of a trace, or of that part of one, whose blocks all have at least `least_words` words. */
struct estimate count_of_large(const struct sum *count, const struct sum *all, double rate,
                               uint64_t least_words);

/* Estimates which share, 0 to 1, a part has of a whole; each row of the part is a row of the whole.
 * `samples` are those of the part. Without any sample of the whole the interval is 0 to 1. */
struct estimate share_of(const struct sum *part, const struct sum *whole, double unit);

/* `one` minus `other`: two estimates from different samples, either of two traces, or of two
 * moments of one trace without the blocks that both moments have. `low` and `high` may be below 0;
 * `samples` are those of both. See "Differences" in estimate.c. */
struct estimate difference_of(const struct estimate *one, const struct estimate *other);

/* `one` divided by `other`, both above 0, of different samples; and an estimate times such a
 * factor. The distances to the ends of their intervals, of a ratio those of the logarithms, are
 * combined as in difference_of. A factor whose `low` and `high` equal its estimate is exact. */
struct estimate ratio_of(const struct estimate *one, const struct estimate *other);
struct estimate estimate_times(const struct estimate *estimate, const struct estimate *factor);

/* Whether the interval of a difference excludes 0. */
static inline bool difference_is_sure(const struct estimate *difference) {
  return difference->low > 0 || difference->high < 0;
}
/* SPDX-License-Identifier: MIT */
