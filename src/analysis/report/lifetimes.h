/* The median life of a group's blocks, with its interval. */
#pragma once

#include "analysis/load/timeline.h"

/* A life is measured in nanoseconds, or in words that were allocated during it (WORDS CLOCK). */
enum life_measure { LIFE_NS, LIFE_WORDS };

struct lifetimes {
  const struct samples *samples;
  const struct call_tree *tree; /* NULL: all rows count */
  struct lived *order; /* the last rows of the blocks that the tree counts, by life, shortest first */
  size_t count;
  const double *weights; /* by row; NULL: the inverse of the probability */
  bool *inside;          /* scratch; index: node of the tree */
};

/* Prepares the lives of the rows that a call tree counts; of all rows if `tree` is NULL. Each has the
 * weight weights[row], 0 if it does not count; with `weights` NULL the inverse of its probability. The
 * samples, the tree and the weights must outlive it. WN_ENOMEM. */
wn_status lifetimes_create(const struct samples *samples, const struct call_tree *tree,
                           enum life_measure measure, const double *weights, struct lifetimes *lifetimes);
void lifetimes_destroy(struct lifetimes *lifetimes);

/* The median life of a group's blocks. */
struct life {
  uint64_t median;    /* half of the blocks live longer */
  bool known;         /* false: the median is longer than `median`, the longest life in the trace */
  uint64_t low, high; /* the ends of the interval; NO_BOUND: too few samples */
  uint64_t samples;
};

#define NO_BOUND UINT64_MAX

/* The median life of a group's blocks. `low` is NO_BOUND only if `high` is. Without any block
 * `known` is false and both ends are NO_BOUND. */
struct life lifetimes_median(struct lifetimes *lifetimes, const struct group *group, enum extent extent);

/* The median life of each label's own blocks: medians[label], for all labels of the tree. Not for
 * BY_STACK. WN_ENOMEM. */
wn_status lifetimes_medians(const struct lifetimes *lifetimes, struct life *medians);

/* The share of all these blocks that live longer than `life`, with its interval. */
struct survival {
  uint64_t life;
  double share, low, high;
};

/* Fills in the shares for `count` lives, which are in order, shortest first. Zeros without any block.
 */
void lifetimes_survival(const struct lifetimes *lifetimes, struct survival *curve, size_t count);
/* SPDX-License-Identifier: MIT */
