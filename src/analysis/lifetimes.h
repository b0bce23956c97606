/* How long blocks live: the median life of a group's blocks. */
#ifndef ANALYSIS_LIFETIMES_H
#define ANALYSIS_LIFETIMES_H

#include "analysis/call_tree.h"

/* Nanoseconds, or words that were allocated meanwhile (WORDS CLOCK). */
enum life_measure { LIFE_NS, LIFE_WORDS };

struct lifetimes {
  const struct samples *samples;
  const struct call_tree *tree;
  enum life_measure measure;
  uint32_t *order; /* the tree's rows that end a block or reach the end, by life, shortest first */
  size_t count;
  bool *inside; /* index: node of the tree */
};

/* For the rows that a call tree counts. The samples and the tree must outlive it. */
wn_status lifetimes_create(const struct samples *samples, const struct call_tree *tree,
                           enum life_measure measure, struct lifetimes *lifetimes);
void lifetimes_destroy(struct lifetimes *lifetimes);

/* How long blocks live. */
struct life {
  uint64_t median; /* the life that half of the blocks reach */
  bool
      known; /* false: more than half may live on behind the end of the trace, and `median` is the longest life
                         that was seen: the median is longer */
  uint64_t low, high; /* the interval; NO_BOUND where so few samples give no end */
  uint64_t samples;
};

#define NO_BOUND UINT64_MAX

/* Of one group's blocks. `low` is NO_BOUND only if `high` is. Without any block it is not known and
 * has no ends. */
struct life lifetimes_median(struct lifetimes *lifetimes, const struct group *group, enum extent extent);

#endif
/* SPDX-License-Identifier: MIT */
