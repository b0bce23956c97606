/* The median life of a group's blocks, with its interval. */
#ifndef ANALYSIS_LIFETIMES_H
#define ANALYSIS_LIFETIMES_H

#include "analysis/call_tree.h"

/* A life is measured in nanoseconds, or in words that were allocated during it (WORDS CLOCK). */
enum life_measure { LIFE_NS, LIFE_WORDS };

struct lifetimes {
  const struct samples *samples;
  const struct call_tree *tree;
  enum life_measure measure;
  uint32_t *order; /* the last rows of the blocks that the tree counts, by life, shortest first */
  size_t count;
  bool *inside; /* scratch; index: node of the tree */
};

/* Prepares the lives of the rows that a call tree counts. The samples and the tree must outlive it.
 * WN_ENOMEM. */
wn_status lifetimes_create(const struct samples *samples, const struct call_tree *tree,
                           enum life_measure measure, struct lifetimes *lifetimes);
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

#endif
/* SPDX-License-Identifier: MIT */
