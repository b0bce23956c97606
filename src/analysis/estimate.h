/* Estimates with their intervals, from blocks that were sampled with known probabilities. */
#ifndef ANALYSIS_ESTIMATE_H
#define ANALYSIS_ESTIMATE_H

#include <stdint.h>

/* What accumulates while rows are added. Zero is the empty sum. */
struct sum {
  double total;     /* sum of y / p: unbiased for the sum of y over all blocks, sampled or not */
  double variance;  /* sum of y^2 (1 - p) / p^2: unbiased for the variance of `total` */
  double seen;      /* sum of y: the total is no less */
  double largest;   /* the largest variance of a block in proportion to its y / p */
  uint64_t samples; /* sampled blocks that contributed */
};

/* A number and the interval that covers the truth in about 95 of 100 runs. */
struct estimate {
  double estimate, low, high;
  uint64_t samples;
};

/* The probability that a block of so many words takes at least one sample: 1 - (1 - rate)^words. */
double inclusion_probability(double rate, uint64_t words);

void sum_add(struct sum *sum, double y, double p);

/* The same for one of several y of one block, which are not independent; `variance` is growth_variance's. */
void sum_add_dependent(struct sum *sum, double y, double p, double variance);

/* What y, counted once the block is in the sample with probability p, adds to the variance of a total to which the same
 * block gave `before`, the sum of y / p so far, at times when p was no greater. */
double growth_variance(double y, double p, double before);

void sum_merge(struct sum *sum, const struct sum *other);

/* `unit` is the total that one sample stands for at least: 1 / rate words for bytes (times 8), 1 / rate for blocks. It
 * bounds the interval of a sum without any sample. */
struct estimate estimate_of(const struct sum *sum, double unit);

/* What share of a whole is a part of it, 0 to 1; every row of the part is one of the whole. `samples` are the part's.
 * 0 to 1 without any sample of the whole. */
struct estimate share_of(const struct sum *part, const struct sum *whole, double unit);

#endif
/* SPDX-License-Identifier: MIT */
