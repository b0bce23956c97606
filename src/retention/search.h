/* The search of a graph, breadth first, and the edges of ephemerons (graph.h). */
#ifndef RETENTION_SEARCH_H
#define RETENTION_SEARCH_H

#include "retention/graph.h"

/* The data of an ephemeron depend on several nodes: the weak block, and each key. */
struct condition {
  uint32_t node, ephemeron;
};

struct ephemerons {
  struct ephemeron {
    uint32_t data;
    uint32_t conditions; /* that the search has not met yet */
    uint32_t last;       /* the node that met the last one */
  } * items;
  size_t count, capacity;
  struct condition *conditions; /* in ascending order of nodes when the search begins */
  size_t condition_count, condition_capacity;
};

/* By their nodes. */
int condition_compare(const void *a, const void *b);

/* Sets the graph's parents and order, and adds the edges to the data of ephemerons. False without
 * memory. */
bool graph_search(struct graph *graph, struct ephemerons *ephemerons);

#endif
/* SPDX-License-Identifier: MIT */
