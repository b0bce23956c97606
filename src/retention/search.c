/* The search, and edges. */
#include "retention/search.h"

#include "base/array.h"

static void search_reach(struct graph *graph, uint32_t node, uint32_t parent) {
  if (node == NODE_ALL || graph->parent[node] != NOWHERE) return;
  graph->parent[node] = parent;
  graph->order[graph->reached++] = node;
}

static void meet_conditions(struct graph *graph, struct ephemerons *ephemerons, uint32_t node) {
  for (size_t i = graph_place_of(ephemerons->conditions, ephemerons->condition_count,
                                 sizeof *ephemerons->conditions, node);
       i < ephemerons->condition_count && ephemerons->conditions[i].node == node; i++) {
    struct ephemeron *ephemeron = &ephemerons->items[ephemerons->conditions[i].ephemeron];
    if (--ephemeron->conditions) continue;
    ephemeron->last = node;
    search_reach(graph, ephemeron->data, node);
  }
}

static bool search_search(struct graph *graph, struct ephemerons *ephemerons) {
  size_t count = graph->node_count;
  graph->parent = array_new(count, sizeof *graph->parent);
  graph->order = array_new(count, sizeof *graph->order);
  graph->reached = 0;
  if (!graph->parent || !graph->order) return false;
  memset(graph->parent, 0xff, count * sizeof *graph->parent); /* NOWHERE */
  graph->order[graph->reached++] = NODE_ALL;
  for (uint32_t at = 0; at < graph->reached; at++) {
    uint32_t node = graph->order[at];
    for (uint32_t i = graph->edge_begin[node]; i < graph->edge_begin[node + 1]; i++)
      search_reach(graph, graph->edges[i], node);
    if (ephemerons->condition_count) meet_conditions(graph, ephemerons, node);
  }
  return true;
}

static void forget_search(struct graph *graph) {
  free(graph->parent), free(graph->order);
  graph->parent = graph->order = NULL;
}

static int by_last(const void *a, const void *b) {
  const struct ephemeron *one = a, *other = b;
  if (one->last != other->last) return one->last < other->last ? -1 : 1;
  return (one->data > other->data) - (one->data < other->data);
}

/* Builds the edges again, with those of ephemerons behind the others of their nodes. */
static bool insert_edges(struct graph *graph, struct ephemerons *ephemerons) {
  const struct graph before = *graph;
  struct graph_adding adding = {.graph = graph};
  const struct ephemeron *next = ephemerons->items, *end = next + ephemerons->count;
  array_sort(ephemerons->items, ephemerons->count, sizeof *ephemerons->items, by_last);
  graph->edges = NULL, graph->steps = NULL, graph->far = NULL;
  graph->edge_count = graph->edge_capacity = graph->far_count = graph->far_capacity = 0;
  graph->edge_begin = array_new((size_t)graph->node_count + 1, sizeof *graph->edge_begin);
  bool enough = graph->edge_begin;
  for (uint32_t node = 0; enough && node < graph->node_count; node++) {
    graph_begin_edges(&adding, node);
    for (struct edge_walk edge = graph_edges(&before, node); enough && edge_next(&edge);)
      enough = graph_add_edge(&adding, edge.field, edge.to);
    for (; enough && next < end && next->last == node; next++)
      enough = graph_add_edge(&adding, FIELD_DATA, next->data);
  }
  if (enough) graph_begin_edges(&adding, graph->node_count);
  free(before.edges), free(before.steps), free(before.far), free(before.edge_begin);
  return enough;
}

/* ---- shared ---- */

int condition_compare(const void *a, const void *b) {
  const struct condition *one = a, *other = b;
  return (one->node > other->node) - (one->node < other->node);
}

void graph_begin_edges(struct graph_adding *adding, uint32_t node) {
  adding->graph->edge_begin[node] = (uint32_t)adding->graph->edge_count;
  adding->field = FIELD_ROOT;
}

bool graph_add_edge(struct graph_adding *adding, uint32_t field, uint32_t to) {
  struct graph *graph = adding->graph;
  uint32_t step = field - adding->field, at = (uint32_t)graph->edge_count;
  size_t capacity = graph->edge_capacity;
  if (at >= graph_edges_most ||
      !array_reserve(&graph->edges, &capacity, (size_t)at + 1, sizeof *graph->edges) ||
      !array_reserve(&graph->steps, &graph->edge_capacity, (size_t)at + 1, sizeof *graph->steps) ||
      (step >= STEP_FAR &&
       !ARRAY_ADD(graph->far, graph->far_count, graph->far_capacity, (struct graph_far){at, field})))
    return false;
  graph->edges[at] = to;
  graph->steps[at] = (uint8_t)(step < STEP_FAR ? step : STEP_FAR);
  graph->edge_count++;
  adding->field = field;
  return true;
}

bool graph_hang_data(struct graph *graph, struct ephemerons *ephemerons) {
  if (!ephemerons->count) return true;
  array_sort(ephemerons->conditions, ephemerons->condition_count, sizeof *ephemerons->conditions,
             condition_compare);
  bool enough = search_search(graph, ephemerons);
  forget_search(graph);
  return enough && insert_edges(graph, ephemerons);
}

bool graph_search(struct graph *graph) {
  forget_search(graph);
  return search_search(graph, &(struct ephemerons){0});
}
/* SPDX-License-Identifier: MIT */
