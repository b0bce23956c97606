/* Two call trees as one, for a flame graph of a comparison: a node of either tree whose label and
 * callers match a node of the other (matching.h) is one node.
 *
 * The joined tree has the nodes, labels and sums of `after` under the same numbers; then follow the
 * nodes and labels of `before` alone. The sums of `before` stand beside it. It has no groups, and
 * siblings are in no order. */
#pragma once

#include "analysis/compare/pair.h"

struct node_sums {
  struct sums self, total;
};

struct merged_tree {
  struct call_tree tree;
  struct node_sums *before;   /* index: node of the tree */
  uint32_t *before_label;     /* index: label of the tree; that of `before`, or UNMATCHED */
  uint32_t after_label_count; /* labels from this number on are of `before` alone */
};

/* Joins the trees of two tables with one grouping, which must outlive the joined tree. WN_ENOMEM. */
wn_status merged_tree_make(const struct table *before, const struct table *after, struct merged_tree *joined);
void merged_tree_destroy(struct merged_tree *joined);
/* SPDX-License-Identifier: MIT */
