/* Sums rows by the code that allocated them: by function, line, file, module or stack (groups), and
 * along call paths (the tree). */
#pragma once

#include "analysis/load/call_paths.h"

/* How one row counts. */
struct share {
  double bytes, blocks;      /* unweighted */
  const struct grown *grown; /* how it depends on other rows of the block; NULL: not at all */
  struct weight weight;      /* used instead of 1/p and its variance if its factor is not 0 */
  bool apart; /* the row belongs to its group (node_of_row), but adds to no sum and is no sample of it */
};

/* A row that counts as its block: with its bytes, and as one block. */
static inline struct share share_block(const struct row *row) {
  return (struct share){.bytes = (double)row->size, .blocks = 1};
}

/* A row that counts as the call that allocated it. A row whose block realloc made smaller belongs
 * to its group, for the lives, but adds nothing to the sums. */
static inline struct share share_call(const struct samples *samples, const struct row *row) {
  return (struct share){.bytes = (double)row_allocated(row),
                        .blocks = row->call,
                        .grown = grown_at(&samples->grown, row->grown),
                        .apart = !row->call};
}

/* Tells how a row counts: sets *share. False: it does not count. Of the rows of one node either all
 * have a weight or none. */
typedef bool row_measure(const struct row *row, struct share *share, void *context);

struct sums {
  struct sum bytes, blocks;
};

static inline void sums_merge(struct sums *sums, const struct sums *other) {
  sum_merge(&sums->bytes, &other->bytes);
  sum_merge(&sums->blocks, &other->blocks);
}

/* A node of the call tree: a function (or line, file, module) on one call path. Parents stand
 * before their children. */
struct tree_node {
  uint32_t parent;                    /* 0: the root, which is its own parent */
  uint32_t label;                     /* 0: the label of the root, "(no callstack)" */
  uint32_t first_child, next_sibling; /* 0: none */
  struct sums self, total;
};

/* One group: all nodes with one label. It is a line of a table. */
struct group {
  uint32_t label;
  struct sums self, total; /* total counts a recursive function once */
  uint64_t stacks;         /* a hash: equal for groups that are on the same stacks */
  uint32_t example;        /* a node with self sums that the total counts */
};

#define NO_NODE UINT32_MAX

struct call_tree {
  enum grouping grouping;
  struct label *labels;
  size_t label_count;
  struct tree_node *nodes; /* nodes[0] is the root; its total is the sum of all rows */
  size_t node_count;
  struct group *groups;  /* ordered by total bytes, largest first */
  size_t group_count;    /* until call_tree_group: 0 */
  uint32_t *node_of_row; /* index: row of the samples; NO_NODE: the row does not count */
};

/* Sums all rows that `measure` counts. A group of BY_STACK is one node of the tree, and its `label`
 * is the number of that node. `view` NULL: all frames. WN_ENOMEM. */
wn_status call_tree_build(const struct samples *samples, const struct names *names, enum grouping grouping,
                          const struct stack_view *view, row_measure *measure, void *context,
                          struct call_tree *tree);

/* The same in two steps: sums the rows along paths that are known already, then makes the groups,
 * which a tree that is only drawn does not need. WN_ENOMEM. */
wn_status call_tree_sum(const struct samples *samples, const struct call_paths *paths, row_measure *measure,
                        void *context, struct call_tree *tree);
wn_status call_tree_group(struct call_tree *tree);
void call_tree_destroy(struct call_tree *tree);

/* Which blocks of a group are meant: those of its self sums, or all that its total counts. */
enum extent { EXTENT_SELF, EXTENT_TOTAL };

/* Sets inside[node], for each node of the tree: whether the node has these blocks. */
void call_tree_mark(const struct call_tree *tree, const struct group *group, enum extent extent,
                    bool *inside);

/* The number of consecutive groups from `first` on that are on the same stacks and therefore have
 * equal totals: functions that always call each other. *innermost becomes the group that the others
 * call. If more than one of them has self sums, returns 1. Not for BY_STACK. */
size_t call_tree_chain(const struct call_tree *tree, size_t first, size_t *innermost);

/* Writes the text for a label of the tree (label_text). */
void call_tree_label(const struct call_tree *tree, const struct names *names, uint32_t label, char *buffer,
                     size_t size);
/* SPDX-License-Identifier: MIT */
