/* How long blocks live: the median life of a group's blocks. */
#ifndef ANALYSIS_LIFETIMES_H
#define ANALYSIS_LIFETIMES_H

#include "analysis/call_tree.h"

struct lifetimes {
  const struct samples *samples;
  const struct call_tree *tree;
  uint32_t *order; /* the tree's rows that end a block or reach the end, by life, shortest first */
  size_t count;
  bool *inside; /* index: node of the tree */
};

/* For the rows that a call tree counts. The samples and the tree must outlive it. */
wn_status lifetimes_create(const struct samples *samples, const struct call_tree *tree,
                           struct lifetimes *lifetimes);
void lifetimes_destroy(struct lifetimes *lifetimes);

/* The life that half of the group's blocks reach. False if more than half may live on behind the end of the trace; *ns is
 * then the longest life that was seen: the median is longer. */
bool lifetimes_median(struct lifetimes *lifetimes, const struct group *group, uint64_t *ns);

#endif
/* SPDX-License-Identifier: MIT */
