/* Trees of nodes with two children and two numbers, made from the leaves up or from the root
 * down. */
#ifndef BENCH_HEAP_TREE_H
#define BENCH_HEAP_TREE_H

#include "heap_program.h"

#include <time.h>

enum { TREE_LEFT, TREE_RIGHT, TREE_ONE, TREE_TWO, TREE_FIELDS };

static inline wn_value tree_node(wn_domain *d, wn_ref left, wn_ref right) {
  wn_value *fields = wn_bump(d, TREE_FIELDS, 0);
  fields[TREE_LEFT] = *left.slot;
  fields[TREE_RIGHT] = *right.slot;
  fields[TREE_ONE] = fields[TREE_TWO] = wn_int(0);
  return (wn_value)fields;
}

/* From the leaves up: no store into a block that exists already. */
static inline wn_value tree_from_leaves(wn_domain *d, int depth) {
  WN_SCOPE(d);
  wn_ref left = wn_root(d, depth ? tree_from_leaves(d, depth - 1) : wn_int(0));
  wn_ref right = wn_root(d, depth ? tree_from_leaves(d, depth - 1) : wn_int(0));
  return tree_node(d, left, right);
}

/* From the root down: children are stored into nodes that may be old by then. */
static inline void tree_grow(wn_domain *d, wn_ref node, int depth) {
  WN_SCOPE(d);
  if (!depth) return;
  wn_ref none = wn_root(d, wn_int(0)), child = wn_root(d, wn_int(0));
  for (size_t side = TREE_LEFT; side <= TREE_RIGHT; side++) {
    *child.slot = tree_node(d, none, none);
    wn_set(d, node, side, child);
    tree_grow(d, child, depth - 1);
  }
}

static inline wn_value tree_from_root(wn_domain *d, int depth) {
  WN_SCOPE(d);
  wn_ref none = wn_root(d, wn_int(0));
  wn_ref root = wn_root(d, tree_node(d, none, none));
  tree_grow(d, root, depth);
  return *root.slot;
}

/* Does not allocate, and has no safepoint: for small trees. */
static inline long tree_count_small(wn_value tree) {
  const wn_value *fields = (const wn_value *)tree;
  return wn_is_int(tree) ? 0 : 1 + tree_count_small(fields[TREE_LEFT]) + tree_count_small(fields[TREE_RIGHT]);
}

/* A long walk lets the others collect now and then: above SMALL levels it uses handles, and
 * polls. */
static inline long tree_count(wn_domain *d, wn_ref tree, int depth) {
  enum { SMALL = 10 };
  WN_SCOPE(d);
  if (depth <= SMALL) return tree_count_small(*tree.slot);
  wn_poll(d);
  long left = tree_count(d, wn_get(d, tree, TREE_LEFT), depth - 1);
  return 1 + left + tree_count(d, wn_get(d, tree, TREE_RIGHT), depth - 1);
}

/* Ends the program if the collector lost or made up a node. */
static inline void tree_expect(wn_domain *d, wn_value tree, int depth) {
  WN_SCOPE(d);
  long count = tree_count(d, wn_root(d, tree), depth);
  if (count == (2L << depth) - 1) return;
  fprintf(stderr, "a tree of depth %d has %ld nodes\n", depth, count);
  exit(1);
}

static inline double program_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

#endif
/* SPDX-License-Identifier: MIT */
