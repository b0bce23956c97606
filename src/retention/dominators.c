/* Semi-NCA. Nodes have the numbers in which a search, depth first, enters them: a node's
 * semidominator and its dominator have lower numbers than it has. */
#include "retention/dominators.h"

#include "base/array.h"

enum { AHEAD = 32 }; /* edges */

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

static void dominators_enter(struct semi_nca *of, uint32_t node, uint32_t parent) {
  of->number[node] = of->count;
  of->node[of->count] = node;
  of->dominator[of->count++] = parent;
}

/* `cursor`, by number: the next edge to follow. The set `met` fits in a cache, and the numbers do
 * not. */
static void follow_edges(struct semi_nca *of, uint32_t *cursor, uint8_t *met) {
  const struct graph *graph = of->graph;
  memset(of->number, 0xff, graph->node_count * sizeof *of->number); /* NOWHERE */
  node_set_add(met, NODE_ALL);
  dominators_enter(of, NODE_ALL, 0);
  cursor[0] = graph->edge_begin[NODE_ALL];
  for (uint32_t at = 0;;) {
    uint32_t end = graph->edge_begin[of->node[at] + 1];
    while (cursor[at] < end && node_set_add(met, graph->edges[cursor[at]])) cursor[at]++;
    if (cursor[at] < end) {
      uint32_t node = graph->edges[cursor[at]++];
      cursor[of->count] = graph->edge_begin[node];
      dominators_enter(of, node, at);
      at = of->count - 1;
    } else if (at) {
      at = of->dominator[at];
    } else {
      return;
    }
  }
}

static bool dominators_search(struct semi_nca *of) {
  size_t count = of->graph->node_count;
  uint32_t *cursor = array_new(count, sizeof *cursor);
  uint8_t *met = calloc(node_set_bytes(of->graph), 1);
  of->number = array_new(count, sizeof *of->number);
  of->node = array_new(count, sizeof *of->node);
  of->dominator = array_new(count, sizeof *of->dominator);
  bool enough = cursor && met && of->number && of->node && of->dominator;
  if (enough) follow_edges(of, cursor, met);
  free(cursor), free(met);
  return enough;
}

/* Counts what leads to each node, and lists it: the count of number n is in before_begin[n + 2] at
 * first. */
static bool turn_edges(struct semi_nca *of) {
  const struct graph *graph = of->graph;
  of->before_begin = calloc((size_t)of->count + 2, sizeof *of->before_begin);
  of->before = array_new(graph->edge_count, sizeof *of->before);
  if (!of->before_begin || !of->before) return false;
  for (uint32_t node = 0; node < graph->node_count; node++) {
    if (of->number[node] == NOWHERE) continue;
    for (uint32_t i = graph->edge_begin[node]; i < graph->edge_begin[node + 1]; i++)
      of->before_begin[of->number[graph->edges[i]] + 2]++;
  }
  for (uint32_t at = 0; at < of->count; at++) of->before_begin[at + 2] += of->before_begin[at + 1];
  for (uint32_t node = 0; node < graph->node_count; node++) {
    if (of->number[node] == NOWHERE) continue;
    for (uint32_t i = graph->edge_begin[node]; i < graph->edge_begin[node + 1]; i++)
      of->before[of->before_begin[of->number[graph->edges[i]] + 1]++] = of->number[node];
  }
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

static bool find_dominators(struct semi_nca *of) {
  of->semi = array_new(of->count, sizeof *of->semi);
  of->links = array_new(of->count, sizeof *of->links);
  if (!of->semi || !of->links) return false;
  for (uint32_t at = 0; at < of->count; at++) of->links[at] = (struct link){of->dominator[at], at};
  for (uint32_t at = of->count; --at;) {
    uint32_t semi = of->dominator[at];
    for (uint32_t i = of->before_begin[at]; i < of->before_begin[at + 1]; i++) {
      if (i >= AHEAD) __builtin_prefetch(&of->links[of->before[i - AHEAD]]); /* for the next */
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
    dominators->nodes[node] = (struct dominated){.dominator = NOWHERE, .child = NOWHERE, .sibling = NOWHERE};
  for (uint32_t at = of->count; at--;) {
    uint32_t node = of->node[at], above = of->node[of->dominator[at]];
    struct dominated *made = &dominators->nodes[node], *parent = &dominators->nodes[above];
    made->retained += graph_bytes(graph, node);
    made->retained_blocks += node >= graph->first_block;
    if (!at) return;
    made->dominator = above;
    made->sibling = parent->child;
    parent->child = node;
    parent->retained += made->retained;
    parent->retained_blocks += made->retained_blocks;
  }
}

/* ---- shared ---- */

bool dominators_find(struct dominators *dominators, const struct graph *graph) {
  struct semi_nca of = {.graph = graph};
  *dominators = (struct dominators){0};
  bool enough = dominators_search(&of) && turn_edges(&of) && find_dominators(&of);
  free(of.number), free(of.before_begin), free(of.before), free(of.semi), free(of.links);
  enough = enough && (dominators->nodes = array_new(graph->node_count, sizeof *dominators->nodes));
  if (enough) make_tree(dominators, &of);
  free(of.node), free(of.dominator);
  return enough;
}

void dominators_free(struct dominators *dominators) { free(dominators->nodes); }

void dominators_walk(const struct dominators *dominators, const struct dominators_walk *walk) {
  const struct dominated *nodes = dominators->nodes;
  for (uint32_t node = NODE_ALL, next;; node = next) {
    walk->enter(walk->context, node);
    for (next = nodes[node].child; next == NOWHERE; node = nodes[node].dominator) {
      walk->leave(walk->context, node);
      if (node == NODE_ALL) return;
      if ((next = nodes[node].sibling) != NOWHERE) break;
    }
  }
}
/* SPDX-License-Identifier: MIT */
