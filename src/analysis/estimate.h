/* Estimates with their intervals, from blocks that were sampled with known probabilities. */
#ifndef ANALYSIS_ESTIMATE_H
#define ANALYSIS_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

/* What accumulates while rows are added. Zero is the empty sum. */
struct sum {
  double total;     /* sum of y / p: unbiased for the sum of y over all blocks, sampled or not */
  double variance;  /* sum of y^2 (1 - p) / p^2: unbiased for the variance of `total` */
  double seen;      /* sum of y: the total is no less */
  double clustered; /* of the variance, what calls of blocks that grow have, each times its growth */
  double typical;   /* the total, if of each block that grows as many calls were known as of most such */
  double earlier;   /* what blocks that grow had from calls before their first sample, most likely */
  uint64_t samples; /* sampled blocks that contributed */
};

/* A number and its interval. Of all sums that have a sample, in all runs, 95 of 100 intervals hold
 * the truth. */
struct estimate {
  double estimate, low, high;
  uint64_t samples;
  bool few_blocks; /* the samples are of a block or two, as far as can be told */
};

/* Whether an estimate rests on a block or two, which say what the order of magnitude is; but of a
 * large block one sample says all. */
static inline bool estimate_is_rough(const struct estimate *estimate) {
  return estimate->few_blocks && estimate->high > 1.1 * estimate->low;
}

/* The probability that a block of so many words takes at least one sample: 1 - (1 - rate)^words. */
double inclusion_probability(double rate, uint64_t words);

void sum_add(struct sum *sum, double y, double p);

/* What one sampled block counts for where that is not y / p. */
struct weight {
  double factor;   /* y times this is added to the estimate */
  double seen;     /* the truth has y times this at least, from this block */
  double variance; /* of the estimate, in proportion to y^2 */
  bool sample;     /* the estimate of unseen blocks rests on it */
};
void sum_add_weighted(struct sum *sum, double y, const struct weight *weight);

/* How one of several y of one block counts, one for each call that made it so large. They are not
 * independent. */
struct dependence {
  double variance; /* growth_variance's */
  double growth;   /* what the block had before by what it has, 0 to 1; 0 if it never grew */
  double typical;  /* calls that blocks have which grow in such steps, by those known of this one; or 1 */
  double earlier;  /* of the first that is known: y of the calls before it, if their steps were alike */
};
void sum_add_dependent(struct sum *sum, double y, double p, const struct dependence *dependence);

/* What y, counted once the block is in the sample with probability p, adds to the variance of a
 * total to which the same block gave `before`, the sum of y / p so far, at times when p was no
 * greater. */
double growth_variance(double y, double p, double before);

void sum_merge(struct sum *sum, const struct sum *other);

/* `unit` is what one sample of a small block stands for: 1 / rate words for bytes (times 8), 1 / p
 * for blocks. It bounds the sum of sizes without any sample. 0 at rate 1. */
struct estimate estimate_of(const struct sum *sum, double unit);

/* A count of some of the blocks that `all` counts, the whole trace. The unit is the mean 1 / p of a
 * block of the trace; without any sample of its own, that of the smallest block. */
struct estimate count_of(const struct sum *count, const struct sum *all, double rate);

/* What share of a whole is a part of it, 0 to 1; every row of the part is one of the whole.
 * `samples` are the part's. 0 to 1 without any sample of the whole. */
struct estimate share_of(const struct sum *part, const struct sum *whole, double unit);

/* `one` less `other`, two estimates that rest on different samples: of two traces; or of two
 * moments of one, without the blocks that both have. low and high may be below 0; `samples` are
 * those of both. The interval is that of Zou and Donner, "Construction of confidence limits about
 * effect measures: a general approach", Statistics in Medicine 27 (2008): the distances to the ends
 * of the two intervals, added as squares, on the side where each matters. */
struct estimate difference_of(const struct estimate *one, const struct estimate *other);

/* Whether a difference is one beyond doubt: its interval does not hold 0. */
static inline bool difference_is_sure(const struct estimate *difference) {
  return difference->low > 0 || difference->high < 0;
}

#endif
/* SPDX-License-Identifier: MIT */
