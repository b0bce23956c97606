/* Building the edges of a graph, and those of ephemerons (graph.h). */
#pragma once

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

static const size_t graph_edges_most = UINT32_MAX;

struct graph_adding {
  struct graph *graph;
  uint32_t field; /* of the last edge */
};

/* Begins the edges of a node, behind those of the nodes before it. */
void graph_begin_edges(struct graph_adding *adding, uint32_t node);

/* Adds an edge to that node, behind its others. False without memory, and if there are too many. */
bool graph_add_edge(struct graph_adding *adding, uint32_t field, uint32_t to);

/* Adds the edges to the data of ephemerons. False as graph_add_edge. */
bool graph_hang_data(struct graph *graph, struct ephemerons *ephemerons);
/* SPDX-License-Identifier: MIT */
