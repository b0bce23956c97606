/* Dominators: a node dominates another if every path from the root to that leads through it. If it
 * went, the other would go, too. So what a node retains is itself and all that it dominates, and
 * the sum of their bytes is its retained size.
 *
 * The algorithm is semi-NCA, of Georgiadis, Tarjan and Werneck, "Finding Dominators in Practice"
 * (Journal of Graph Algorithms and Applications 10, 2006), with path compression. No function here
 * recurses. */
#pragma once

#include "retention/graph.h"

/* Of a node that is not reachable: nothing retained, and no dominator. Node 0 has none either. */
struct dominators {
  struct dominated {
    uint64_t retained; /* bytes */
    uint32_t retained_blocks;
    uint32_t dominator;      /* the nearest one, besides the node itself; NOWHERE: none */
    uint32_t child, sibling; /* the tree: NOWHERE ends a list */
  } * nodes;                 /* by node */
};

/* False without memory. Freed by dominators_free, also then. */
bool dominators_find(struct dominators *dominators, const struct graph *graph);
void dominators_free(struct dominators *dominators);

/* Calls `enter` for each reachable node, after its dominators and before what it dominates, and
 * `leave` after that. */
struct dominators_walk {
  void (*enter)(void *context, uint32_t node);
  void (*leave)(void *context, uint32_t node);
  void *context;
};
void dominators_walk(const struct dominators *dominators, const struct dominators_walk *walk);
/* SPDX-License-Identifier: MIT */
