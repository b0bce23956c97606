/* The search. */
#include "retention/search.h"

#include "base/array.h"

static void reach(struct graph *graph, uint32_t node, uint32_t parent, uint32_t field) {
  if (node == NODE_ALL || graph->parent[node] != NOWHERE) return;
  graph->parent[node] = parent;
  graph->parent_field[node] = field;
  graph->bytes += graph->node_bytes[node];
  graph->order[graph->reached++] = node;
}

static void meet_conditions(struct graph *graph, struct ephemerons *ephemerons, uint32_t node) {
  for (size_t i = graph_place_of(ephemerons->conditions, ephemerons->condition_count,
                                 sizeof *ephemerons->conditions, node);
       i < ephemerons->condition_count && ephemerons->conditions[i].node == node; i++) {
    struct ephemeron *ephemeron = &ephemerons->items[ephemerons->conditions[i].ephemeron];
    if (--ephemeron->conditions) continue;
    ephemeron->last = node;
    reach(graph, ephemeron->data, node, FIELD_DATA);
  }
}

/* Puts the edges of ephemerons behind the others of their nodes. */
static bool insert_edges(struct graph *graph, const struct ephemerons *ephemerons, size_t added_count) {
  struct graph_edge *edges = array_new(graph->edge_count + added_count, sizeof *edges);
  uint32_t *begin = array_new(graph->node_count + 1, sizeof *begin);
  uint32_t *next = calloc(graph->node_count + 1, sizeof *next); /* how many a node gets, then where */
  bool enough = edges && begin && next;
  size_t at = 0;
  for (size_t i = 0; enough && i < ephemerons->count; i++)
    if (ephemerons->items[i].last != NOWHERE) next[ephemerons->items[i].last]++;
  for (uint32_t node = 0; enough && node < graph->node_count; node++) {
    size_t count = graph->edge_begin[node + 1] - graph->edge_begin[node], more = next[node];
    if (count) memcpy(edges + at, graph->edges + graph->edge_begin[node], count * sizeof *edges);
    begin[node] = (uint32_t)at;
    next[node] = (uint32_t)(at + count);
    at += count + more;
  }
  for (size_t i = 0; enough && i < ephemerons->count; i++)
    if (ephemerons->items[i].last != NOWHERE)
      edges[next[ephemerons->items[i].last]++] = (struct graph_edge){ephemerons->items[i].data, FIELD_DATA};
  free(next);
  if (!enough) return free(edges), free(begin), false;
  begin[graph->node_count] = (uint32_t)at;
  free(graph->edge_begin), free(graph->edges);
  graph->edge_begin = begin;
  graph->edges = edges;
  graph->edge_count = graph->edge_capacity = at;
  return true;
}

/* ---- shared ---- */

int condition_compare(const void *a, const void *b) {
  const struct condition *one = a, *other = b;
  return (one->node > other->node) - (one->node < other->node);
}

bool graph_search(struct graph *graph, struct ephemerons *ephemerons) {
  size_t added = 0;
  array_sort(ephemerons->conditions, ephemerons->condition_count, sizeof *ephemerons->conditions,
             condition_compare);
  graph->order[graph->reached++] = NODE_ALL;
  for (uint32_t at = 0; at < graph->reached; at++) {
    uint32_t node = graph->order[at];
    for (uint32_t i = graph->edge_begin[node]; i < graph->edge_begin[node + 1]; i++)
      reach(graph, graph->edges[i].to, node, graph->edges[i].field);
    if (ephemerons->condition_count) meet_conditions(graph, ephemerons, node);
  }
  for (size_t i = 0; i < ephemerons->count; i++) added += ephemerons->items[i].last != NOWHERE;
  return !added || insert_edges(graph, ephemerons, added);
}
/* SPDX-License-Identifier: MIT */
