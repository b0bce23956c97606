/* The graph of a heap snapshot: what leads to what, from the roots.
 *
 * Node 0 is the root of all, the next ones are the holders (snapshot/format.h), whom it leads to,
 * and the others are the blocks in the order of their addresses. A node's edges are those from
 * edges[edge_begin[node]] to before edges[edge_begin[node + 1]]. Nodes and edges have numbers of 32
 * bits: a snapshot of 2^31 blocks, or of 2^32 edges, is refused.
 *
 * MEMORY. A heap has many small blocks with few edges, so a block takes 4 bytes and an edge 5: what
 * does not fit there is in lists of the large blocks and of the far fields. The edges of a node are
 * in ascending order of their fields, so of a field the step from the one before it is stored.
 *
 * EPHEMERONS. Weak edges hold nothing, and are no edges here. The data of an ephemeron live as long
 * as the block and all of its keys do: they would go if any of these went. A node of a tree has one
 * parent, so the data hang on the condition that a search from the roots, breadth first, meets
 * last: an edge leads to them from there, and its field is FIELD_DATA.
 *
 * graph_search gives each node that is reachable its parent, too: by these a shortest path leads to
 * the root. */
#pragma once

#include "snapshot/reader.h"
#include <stdbool.h>
#include <stdint.h>

#define FIELD_ROOT ((uint32_t)-1) /* of an edge from node 0, or from a holder */
#define FIELD_DATA ((uint32_t)-2) /* EPHEMERONS */
#define FIELD_MOST ((uint32_t)-3) /* of this field, or of one behind it */
#define NOWHERE    ((uint32_t)-1)

enum { NODE_ALL = 0, NODE_HOLDERS = 1 };
enum { WORDS_BITS = 11, WORDS_LARGE = (1 << WORDS_BITS) - 1, STEP_FAR = UINT8_MAX }; /* MEMORY */

struct graph_holder {
  enum holder_kind kind;
  uint64_t domain;
  char *name; /* "": none */
};

struct graph {
  uint64_t process, time_ns;
  char *command, *language;
  bool complete; /* the snapshot has its end */

  char **types; /* names; NULL: unknown */
  size_t type_count;
  struct graph_field { /* by type and field */
    uint32_t type, field;
    char *name;
  } * fields;
  size_t field_count, field_capacity;
  struct graph_holder *holders; /* of node NODE_HOLDERS + i */
  size_t holder_count;

  char *trace; /* the path of one that recorded the heap; NULL: none did */
  struct graph_sample {
    uint64_t address; /* of the block, / 8 */
    uint64_t number;  /* of the block in the trace */
    uint32_t node;    /* NOWHERE: none */
  } * samples;
  size_t sample_count, sample_capacity;

  uint32_t node_count, first_block;
  uint32_t *blocks; /* from first_block on: type << WORDS_BITS | words, or WORDS_LARGE */
  struct graph_large {
    uint32_t node;
    uint64_t words, outside; /* outside: bytes, of a custom block */
  } * large;                 /* by node, in ascending order */
  size_t large_count, large_capacity;
  struct graph_description {
    uint32_t node;
    char *text;
  } * descriptions; /* by node, in ascending order */
  size_t description_count, description_capacity;
  uint32_t *edge_begin;
  uint32_t *edges; /* the node that it leads to */
  uint8_t *steps;  /* from the field of the node's last edge, or from FIELD_ROOT; or STEP_FAR */
  size_t edge_count, edge_capacity;
  struct graph_far {
    uint32_t edge, field;
  } * far; /* by edge, in ascending order */
  size_t far_count, far_capacity;
  uint64_t lost; /* edges and roots to blocks that the snapshot does not have */

  /* Of graph_search. */
  uint32_t *parent; /* NOWHERE: it is not reachable; of node 0 too */
  uint32_t *order;  /* the reachable nodes, as the search met them */
  uint32_t reached;
};

/* Reads a snapshot of `count` bytes. WN_EFORMAT, WN_ENOMEM. The graph is freed by graph_free, also
 * after an error. */
wn_status graph_load(struct graph *graph, const void *bytes, size_t count);
void graph_free(struct graph *graph);

/* Frees what the graph has of nodes and edges; names and the time stay. */
void graph_free_nodes(struct graph *graph);

/* Sets parents and order by a search from node 0, breadth first. False without memory. */
bool graph_search(struct graph *graph);

/* The name of a type: never NULL. */
const char *graph_type_name(const struct graph *graph, uint32_t type);

/* The name of a field; NULL: it has none. */
const char *graph_field_name(const struct graph *graph, uint32_t type, uint32_t field);

/* What the language says of a block; NULL: nothing. */
const char *graph_description(const struct graph *graph, uint32_t node);

/* Of items of `size` bytes in ascending order of their first member, a node or an edge: how many
 * are of lower ones. */
size_t graph_place_of(const void *items, size_t count, size_t size, uint32_t number);

/* The type of a block; 0 for other nodes. */
static inline uint32_t graph_type(const struct graph *graph, uint32_t node) {
  return node < graph->first_block ? 0 : graph->blocks[node - graph->first_block] >> WORDS_BITS;
}

/* The words of a block without its header; its bytes outside the heap; all of its bytes. 0 for
 * other nodes. */
uint64_t graph_words(const struct graph *graph, uint32_t node);
uint64_t graph_outside(const struct graph *graph, uint32_t node);
uint64_t graph_bytes(const struct graph *graph, uint32_t node);

/* A walk over the edges of a node: for (walk = graph_edges(graph, node); edge_next(&walk);). */
struct edge_walk {
  const struct graph *graph;
  uint32_t at, end;
  uint32_t to, field;
};

static inline struct edge_walk graph_edges(const struct graph *graph, uint32_t node) {
  return (struct edge_walk){graph, graph->edge_begin[node], graph->edge_begin[node + 1], NOWHERE, FIELD_ROOT};
}

bool edge_next(struct edge_walk *walk);

/* The field by which a node leads to another; of several the first. NOWHERE: by none. */
uint32_t graph_field_to(const struct graph *graph, uint32_t node, uint32_t to);

/* Sets of nodes, a bit each, which begin zeroed. Adds a node; whether it was there before. */
static inline size_t node_set_bytes(const struct graph *graph) { return (size_t)graph->node_count / 8 + 1; }
static inline bool node_set_add(uint8_t *set, uint32_t node) {
  uint8_t bit = (uint8_t)(1 << node % 8), before = set[node / 8];
  set[node / 8] = before | bit;
  return before & bit;
}

static inline bool graph_is_reachable(const struct graph *graph, uint32_t node) {
  return node == NODE_ALL || graph->parent[node] != NOWHERE;
}
/* SPDX-License-Identifier: MIT */
