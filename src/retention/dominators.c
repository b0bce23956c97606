/* Semi-NCA. Nodes have the numbers in which a search, depth first, enters them: a node's
 * semidominator and its dominator have lower numbers than it has. */
#include "retention/dominators.h"

#include "base/array.h"

/* By number, but for `number`. Each array is there only while it is used: MEMORY of graph.h. */
struct semi_nca {
  const struct graph *graph;
  uint32_t *number, *node;
  uint32_t *dominator;             /* the parent in the tree of the search, at first */
  uint32_t *before_begin, *before; /* the nodes that lead to each */
  uint32_t *semi;
  struct link {
    uint32_t ancestor;
    uint32_t least; /* semidominator from the node up to before the ancestor */
  } * links;
  uint32_t count;
};

static void enter(struct semi_nca *of, uint32_t node, uint32_t parent) {
  of->number[node] = of->count;
  of->node[of->count] = node;
  of->dominator[of->count++] = parent;
}

/* `cursor`, by number: the next edge to follow. */
static void follow_edges(struct semi_nca *of, uint32_t *cursor) {
  const struct graph *graph = of->graph;
  memset(of->number, 0xff, graph->node_count * sizeof *of->number); /* NOWHERE */
  enter(of, NODE_ALL, 0);
  cursor[0] = graph->edge_begin[NODE_ALL];
  for (uint32_t at = 0;;) {
    uint32_t end = graph->edge_begin[of->node[at] + 1];
    while (cursor[at] < end && of->number[graph->edges[cursor[at]]] != NOWHERE) cursor[at]++;
    if (cursor[at] < end) {
      uint32_t node = graph->edges[cursor[at]++];
      cursor[of->count] = graph->edge_begin[node];
      enter(of, node, at);
      at = of->count - 1;
    } else if (at) {
      at = of->dominator[at];
    } else {
      return;
    }
  }
}

static bool search(struct semi_nca *of) {
  size_t count = of->graph->node_count;
  uint32_t *cursor = array_new(count, sizeof *cursor);
  of->number = array_new(count, sizeof *of->number);
  of->node = array_new(count, sizeof *of->node);
  of->dominator = array_new(count, sizeof *of->dominator);
  bool enough = cursor && of->number && of->node && of->dominator;
  if (enough) follow_edges(of, cursor);
  free(cursor);
  return enough;
}

/* Counts what leads to each node, and lists it: the count of number n is in before_begin[n + 2] at
 * first. */
static bool turn_edges(struct semi_nca *of) {
  const struct graph *graph = of->graph;
  of->before_begin = calloc((size_t)of->count + 2, sizeof *of->before_begin);
  of->before = array_new(graph->edge_count, sizeof *of->before);
  if (!of->before_begin || !of->before) return false;
  for (uint32_t at = 0; at < of->count; at++)
    for (uint32_t i = graph->edge_begin[of->node[at]]; i < graph->edge_begin[of->node[at] + 1]; i++)
      of->before_begin[of->number[graph->edges[i]] + 2]++;
  for (uint32_t at = 0; at < of->count; at++) of->before_begin[at + 2] += of->before_begin[at + 1];
  for (uint32_t at = 0; at < of->count; at++)
    for (uint32_t i = graph->edge_begin[of->node[at]]; i < graph->edge_begin[of->node[at] + 1]; i++)
      of->before[of->before_begin[of->number[graph->edges[i]] + 1]++] = at;
  free(of->number);
  of->number = NULL;
  return true;
}

/* The least semidominator on the way from `at` up to the tree's part that is not linked yet, whose
 * numbers are less than `linked`. Compresses that way: the walk up turns its links around, and the
 * walk down sets them. */
static uint32_t evaluate(struct link *links, uint32_t at, uint32_t linked) {
  uint32_t below = NOWHERE, above;
  while ((above = links[at].ancestor) >= linked) {
    links[at].ancestor = below;
    below = at;
    at = above;
  }
  uint32_t least = links[at].least;
  while (below != NOWHERE) {
    struct link *link = &links[below];
    below = link->ancestor;
    link->ancestor = above;
    least = link->least = link->least < least ? link->least : least;
  }
  return least;
}

static bool find(struct semi_nca *of) {
  of->semi = array_new(of->count, sizeof *of->semi);
  of->links = array_new(of->count, sizeof *of->links);
  if (!of->semi || !of->links) return false;
  for (uint32_t at = 0; at < of->count; at++) of->links[at] = (struct link){of->dominator[at], at};
  for (uint32_t at = of->count; --at;) {
    uint32_t semi = of->dominator[at];
    for (uint32_t i = of->before_begin[at]; i < of->before_begin[at + 1]; i++) {
      uint32_t other = evaluate(of->links, of->before[i], at + 1);
      if (other < semi) semi = other;
    }
    of->semi[at] = of->links[at].least = semi;
  }
  for (uint32_t at = 1; at < of->count; at++)
    while (of->dominator[at] > of->semi[at]) of->dominator[at] = of->dominator[of->dominator[at]];
  return true;
}

/* Children come in the order of their numbers. */
static void make_tree(struct dominators *dominators, const struct semi_nca *of) {
  const struct graph *graph = of->graph;
  for (uint32_t node = 0; node < graph->node_count; node++)
    dominators->dominator[node] = dominators->child[node] = dominators->sibling[node] = NOWHERE;
  for (uint32_t at = of->count; at--;) {
    uint32_t node = of->node[at], above = of->node[of->dominator[at]];
    dominators->retained[node] += graph_bytes(graph, node);
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
  *dominators = (struct dominators){0};
  bool enough = search(&of) && turn_edges(&of) && find(&of);
  free(of.number), free(of.before_begin), free(of.before), free(of.semi), free(of.links);
  if (enough)
    *dominators = (struct dominators){.dominator = array_new(count, sizeof(uint32_t)),
                                      .retained = calloc(count, sizeof(uint64_t)),
                                      .retained_blocks = calloc(count, sizeof(uint32_t)),
                                      .child = array_new(count, sizeof(uint32_t)),
                                      .sibling = array_new(count, sizeof(uint32_t))};
  enough = enough && dominators->dominator && dominators->retained && dominators->retained_blocks &&
           dominators->child && dominators->sibling;
  if (enough) make_tree(dominators, &of);
  free(of.node), free(of.dominator);
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
