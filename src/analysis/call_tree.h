/* Rows summed by what allocated them: by function, line, file, module or stack, and as a call
 * tree. */
#ifndef ANALYSIS_CALL_TREE_H
#define ANALYSIS_CALL_TREE_H

#include "analysis/names.h"

enum grouping { BY_FUNCTION, BY_LINE, BY_FILE, BY_MODULE, BY_STACK };
enum { GROUPINGS = BY_STACK + 1 };

/* "function", "line", ... */
const char *grouping_name(enum grouping grouping);

/* What one row counts for. */
struct share {
  double bytes, blocks; /* unweighted */
  bool dependent;       /* on other rows of its block, as told by: */
  struct dependence bytes_by, blocks_by;
  struct weight weight; /* where a row counts for something else than 1/p and its variance; or factor 0 */
  bool apart; /* the row belongs to its group (node_of_row), but adds to no sum and is no sample there */
};

/* A whole block: its bytes, and one block. */
static inline struct share share_block(const struct row *row) {
  return (struct share){.bytes = (double)row->size, .blocks = 1};
}

/* What a call allocated. A block that realloc made smaller lives on, so its row belongs to the
 * group's lives, but adds nothing to its sums. */
static inline struct share share_call(const struct row *row) {
  return (struct share){.bytes = (double)row->allocated,
                        .blocks = row->call,
                        .dependent = true,
                        .bytes_by = row->bytes_by,
                        .blocks_by = row->call_by,
                        .apart = !row->call};
}

/* What is summed: a row's share of it. False: the row does not count. */
typedef bool row_measure(const struct row *row, struct share *share, void *context);

struct sums {
  struct sum bytes, blocks;
};

/* A node of the call tree: a function (or line...) called along one path. Parents stand before
 * their children. */
struct tree_node {
  uint32_t parent;                    /* 0 is the root, which is its own parent */
  uint32_t label;                     /* 0: the root's, "(no callstack)" */
  uint32_t first_child, next_sibling; /* 0: none */
  struct sums self, total;
};

/* One group: what a table prints a line for. */
struct group {
  uint32_t label;
  struct sums self, total; /* total counts a recursive function once */
  uint64_t stacks;         /* equal for groups that stand on the same stacks, and on no others */
  uint32_t example;        /* a node with rows of its own that the total counts */
};

/* What a group or a tree node is called. */
struct label {
  uint32_t function, module, file,
      line; /* strings of the names; those that the grouping does not tell apart are 0 */
};

#define NO_NODE UINT32_MAX

struct call_tree {
  enum grouping grouping;
  struct label *labels;
  size_t label_count;
  struct tree_node *nodes; /* nodes[0] is the root; its total is the sum of all */
  size_t node_count;
  struct group *groups; /* by total bytes, largest first */
  size_t group_count;
  uint32_t *node_of_row; /* index: row of the samples; NO_NODE: it does not count */
};

/* Sums all rows that `measure` takes. BY_STACK groups are leaves of the tree: their label is a node
 * of the tree then. */
wn_status call_tree_build(const struct samples *samples, const struct names *names, enum grouping grouping,
                          row_measure *measure, void *context, struct call_tree *tree);
void call_tree_destroy(struct call_tree *tree);

/* Which blocks of a group are meant: its own, or all that its total counts. */
enum extent { EXTENT_SELF, EXTENT_TOTAL };

/* Marks the nodes of these blocks: inside[node], for each node. */
void call_tree_mark(const struct call_tree *tree, const struct group *group, enum extent extent,
                    bool *inside);

/* How many groups from `first` on stand on the same stacks, so that all their totals are one
 * number: functions that always call each other. *innermost becomes the one that the others call;
 * it alone may have rows of its own, or the answer is
 * 1. Only for groups that are labels. */
size_t call_tree_chain(const struct call_tree *tree, size_t first, size_t *innermost);

/* Text for a label, such as "parse" or "parse (parser.c:12)"; never longer than the buffer. */
void call_tree_label(const struct call_tree *tree, const struct names *names, uint32_t label, char *buffer,
                     size_t size);

#endif
/* SPDX-License-Identifier: MIT */
