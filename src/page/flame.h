/* The tree of a flame graph: a table's call tree seen from its outermost functions (callees) or from
 * the functions that allocated (callers), of all stacks or of those through one function.
 *
 * BRANCH. A box of the graph is a set of nodes of the call tree, with one label. From outside in, it
 * is one node, or, of one function, all the nodes that are reached the same way from it. From inside
 * out, a branch has for each stack of the set the node that was reached, and the node that the bytes
 * belong to (its origin).
 *
 * ACCOUNT. The children of a branch and what the branch itself has add up to its total, in every
 * direction. Branches below `least` are merged with their siblings of the same kind into one branch
 * without a label, which comes last, so that nothing is left out.
 *
 * RUN. A function that calls itself directly has two branches, one below the other: the second one
 * stands for all deeper levels of that run too, unless `whole` is set.
 *
 * COMPARISON. The tree may be a joined one (analysis/compare/merged_tree.h). Then each branch has the sums of
 * `before` beside those of `after`, and its size, by which branches are ordered and merged, is the
 * sum of both. */
#pragma once

#include "analysis/compare/merged_tree.h"

enum direction { CALLEES, CALLERS };

/* The sums of a branch, and those of `before`: zeros if nothing is compared. */
struct branch_sums {
  struct sums after, before;
};

struct branch {
  uint32_t label;           /* of the tree; 0: the whole; MERGED */
  uint32_t merged;          /* the number of branches that were merged into this one */
  bool again;               /* its caller, or callee if seen from inside out, has the same label */
  struct branch_sums total; /* of the set */
  struct branch_sums self;  /* what no child has */
  double size;              /* bytes of `total` */
  size_t begin, end;        /* its part of the nodes of struct flame; empty for merged ones */
};

#define MERGED UINT32_MAX

/* A node of a branch, and the node to which the bytes belong: the same one, from outside in. */
struct place {
  uint32_t at, origin;
};

struct flame {
  const struct call_tree *tree;
  const struct node_sums *before; /* index: node; NULL: nothing is compared */
  double scale;                   /* what is before counts so many times */
  enum direction direction;
  bool whole;         /* each level of a run has a branch */
  const bool *chosen; /* index: label; the function whose callers or callees are shown; NULL: all */
  double least;       /* bytes */
  struct place *places;
  size_t place_count, place_capacity;
  struct branch *branches; /* a stack: the children of the branches that are open */
  size_t branch_count, branch_capacity;
  uint32_t *slot; /* scratch; index: label */
};

/* Prepares a flame graph of a tree, which must outlive it, and `chosen` too. WN_ENOMEM. */
wn_status flame_create(struct flame *flame, const struct call_tree *tree, enum direction direction,
                       const bool *chosen);

/* Makes it the graph of a comparison; `tree` is that of `joined`. */
void flame_compare(struct flame *flame, const struct merged_tree *joined, double scale);

/* Bytes of sums, as branches are ordered by. */
double flame_size(const struct flame *flame, const struct branch_sums *sums);
void flame_destroy(struct flame *flame);

/* The branch that stands for the whole. WN_ENOMEM. */
wn_status flame_root(struct flame *flame, struct branch *root);

/* Appends the children of a branch to flame->branches, largest first, those below flame->least
 * merged. Sets branch->self. Later places and branches belong to the children: after
 * flame_close they are gone. WN_ENOMEM. */
struct flame_mark {
  size_t places, branches;
};
struct flame_mark flame_open(const struct flame *flame);
wn_status flame_children(struct flame *flame, struct branch *branch);
void flame_close(struct flame *flame, struct flame_mark mark);
/* SPDX-License-Identifier: MIT */
