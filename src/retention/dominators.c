/* Semi-NCA. Nodes have the numbers in which a search, depth first, enters them: a node's
 * semidominator and its dominator have lower numbers than it has. */
#include "retention/dominators.h"

#include "base/array.h"

/* By number, but for `number`. */
struct semi_nca {
  const struct graph *graph;
  uint32_t *number, *node;
  uint32_t *parent; /* in the tree of the search */
  uint32_t *ancestor, *label, *semi, *dominator;
  uint32_t *before_begin, *before; /* the nodes that lead to each */
  uint32_t count;
};

static bool allocate(struct semi_nca *of) {
  const struct graph *graph = of->graph;
  size_t count = graph->node_count, edges = graph->edge_count;
  of->number = array_new(count, sizeof(uint32_t));
  of->node = array_new(count, sizeof(uint32_t));
  of->parent = array_new(count, sizeof(uint32_t));
  of->ancestor = array_new(count, sizeof(uint32_t));
  of->label = array_new(count, sizeof(uint32_t));
  of->semi = array_new(count, sizeof(uint32_t));
  of->dominator = array_new(count, sizeof(uint32_t));
  of->before_begin = calloc(count + 2, sizeof(uint32_t));
  of->before = array_new(edges, sizeof(uint32_t));
  return of->number && of->node && of->parent && of->ancestor && of->label && of->semi && of->dominator &&
         of->before_begin && of->before;
}

static void release(struct semi_nca *of) {
  free(of->number), free(of->node), free(of->parent), free(of->ancestor), free(of->label), free(of->semi);
  free(of->dominator), free(of->before_begin), free(of->before);
}

static void enter(struct semi_nca *of, uint32_t node, uint32_t parent) {
  of->number[node] = of->count;
  of->node[of->count] = node;
  of->parent[of->count++] = parent;
}

/* `cursor`, by number: the next edge to follow. */
static void search(struct semi_nca *of, uint32_t *cursor) {
  const struct graph *graph = of->graph;
  for (uint32_t i = 0; i < graph->node_count; i++) of->number[i] = NOWHERE;
  enter(of, NODE_ALL, 0);
  cursor[0] = graph->edge_begin[NODE_ALL];
  for (uint32_t at = 0;;) {
    uint32_t end = graph->edge_begin[of->node[at] + 1];
    while (cursor[at] < end && of->number[graph->edges[cursor[at]].to] != NOWHERE) cursor[at]++;
    if (cursor[at] < end) {
      uint32_t node = graph->edges[cursor[at]++].to;
      cursor[of->count] = graph->edge_begin[node];
      enter(of, node, at);
      at = of->count - 1;
    } else if (at) {
      at = of->parent[at];
    } else {
      return;
    }
  }
}

/* Counts what leads to each node, and lists it: the count of number n is in before_begin[n + 2] at
 * first. */
static void turn_edges(struct semi_nca *of) {
  const struct graph *graph = of->graph;
  for (uint32_t at = 0; at < of->count; at++)
    for (uint32_t i = graph->edge_begin[of->node[at]]; i < graph->edge_begin[of->node[at] + 1]; i++)
      of->before_begin[of->number[graph->edges[i].to] + 2]++;
  for (uint32_t at = 0; at < of->count; at++) of->before_begin[at + 2] += of->before_begin[at + 1];
  for (uint32_t at = 0; at < of->count; at++)
    for (uint32_t i = graph->edge_begin[of->node[at]]; i < graph->edge_begin[of->node[at] + 1]; i++)
      of->before[of->before_begin[of->number[graph->edges[i].to] + 1]++] = at;
}

/* The number with the least semidominator on the way from `at` up to the tree's part that is not
 * linked yet, whose numbers are less than `linked`. Compresses that way; `stack` has room for
 * it. */
static uint32_t evaluate(struct semi_nca *of, uint32_t at, uint32_t linked, uint32_t *stack) {
  uint32_t depth = 0;
  if (of->ancestor[at] < linked) return of->label[at];
  for (; of->ancestor[at] >= linked; at = of->ancestor[at]) stack[depth++] = at;
  for (uint32_t above = at; depth--; above = at) {
    at = stack[depth];
    of->ancestor[at] = of->ancestor[above];
    if (of->semi[of->label[above]] < of->semi[of->label[at]]) of->label[at] = of->label[above];
  }
  return of->label[at];
}

static void find(struct semi_nca *of, uint32_t *stack) {
  for (uint32_t at = 0; at < of->count; at++) {
    of->ancestor[at] = of->dominator[at] = of->parent[at];
    of->label[at] = of->semi[at] = at;
  }
  for (uint32_t at = of->count; --at;) {
    uint32_t semi = of->parent[at];
    for (uint32_t i = of->before_begin[at]; i < of->before_begin[at + 1]; i++) {
      uint32_t other = of->semi[evaluate(of, of->before[i], at + 1, stack)];
      if (other < semi) semi = other;
    }
    of->semi[at] = semi;
  }
  for (uint32_t at = 1; at < of->count; at++)
    while (of->dominator[at] > of->semi[at]) of->dominator[at] = of->dominator[of->dominator[at]];
}

/* Children come in the order of their numbers. */
static void make_tree(struct dominators *dominators, const struct semi_nca *of) {
  const struct graph *graph = of->graph;
  for (uint32_t node = 0; node < graph->node_count; node++)
    dominators->dominator[node] = dominators->child[node] = dominators->sibling[node] = NOWHERE;
  for (uint32_t at = of->count; at--;) {
    uint32_t node = of->node[at], above = of->node[of->dominator[at]];
    dominators->retained[node] += graph->node_bytes[node];
    dominators->retained_blocks[node] += node >= graph->first_block;
    if (!at) return;
    dominators->dominator[node] = above;
    dominators->retained[above] += dominators->retained[node];
    dominators->retained_blocks[above] += dominators->retained_blocks[node];
    dominators->sibling[node] = dominators->child[above];
    dominators->child[above] = node;
  }
}

/* ---- shared ---- */

bool dominators_find(struct dominators *dominators, const struct graph *graph) {
  struct semi_nca of = {.graph = graph};
  size_t count = graph->node_count;
  *dominators = (struct dominators){.dominator = array_new(count, sizeof(uint32_t)),
                                    .retained = calloc(count, sizeof(uint64_t)),
                                    .retained_blocks = calloc(count, sizeof(uint32_t)),
                                    .child = array_new(count, sizeof(uint32_t)),
                                    .sibling = array_new(count, sizeof(uint32_t))};
  bool enough = dominators->dominator && dominators->retained && dominators->retained_blocks &&
                dominators->child && dominators->sibling && allocate(&of);
  if (enough) {
    search(&of, of.ancestor);
    turn_edges(&of);
    find(&of, dominators->child); /* which is free so far */
    make_tree(dominators, &of);
  }
  release(&of);
  return enough;
}

void dominators_free(struct dominators *dominators) {
  free(dominators->dominator), free(dominators->retained), free(dominators->retained_blocks);
  free(dominators->child), free(dominators->sibling);
}

void dominators_walk(const struct dominators *dominators, const struct dominators_walk *walk) {
  uint32_t node = NODE_ALL;
  for (;;) {
    walk->enter(walk->context, node);
    if (dominators->child[node] != NOWHERE) {
      node = dominators->child[node];
      continue;
    }
    while (dominators->sibling[node] == NOWHERE) {
      walk->leave(walk->context, node);
      if (node == NODE_ALL) return;
      node = dominators->dominator[node];
      if (node == NODE_ALL) break;
    }
    if (node == NODE_ALL) {
      walk->leave(walk->context, node);
      return;
    }
    walk->leave(walk->context, node);
    node = dominators->sibling[node];
  }
}
/* SPDX-License-Identifier: MIT */
