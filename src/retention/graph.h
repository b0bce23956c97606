/* The graph of a heap snapshot: what leads to what, from the roots.
 *
 * Node 0 is the root of all, the next ones are the holders (snapshot/format.h), whom it leads to,
 * and the others are the blocks in the order of their addresses. A node's edges are those from
 * edges[edge_begin[node]] to before edges[edge_begin[node + 1]].
 *
 * EPHEMERONS. Weak edges hold nothing, and are no edges here. The data of an ephemeron live as long
 * as the block and all of its keys do: they would go if any of these went. A node of a tree has one
 * parent, so the data hang on the condition that a search from the roots, breadth first, meets
 * last: an edge leads to them from there, and its field is FIELD_DATA.
 *
 * The search gives each node that is reachable its parent, too: by these a shortest path leads to
 * the root. */
#ifndef RETENTION_GRAPH_H
#define RETENTION_GRAPH_H

#include "snapshot/reader.h"
#include <stdbool.h>
#include <stdint.h>

#define FIELD_ROOT ((uint32_t)-1) /* of an edge from node 0, or from a holder */
#define FIELD_DATA ((uint32_t)-2) /* EPHEMERONS */
#define FIELD_MOST ((uint32_t)-3) /* of this field, or of one behind it */
#define NOWHERE    ((uint32_t)-1)

enum { NODE_ALL = 0, NODE_HOLDERS = 1 };

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
  uint64_t *node_bytes; /* with the header, and what a custom block has outside */
  uint32_t *node_words; /* of the fields; UINT32_MAX: as many or more */
  uint32_t *node_type;  /* of blocks; 0 for the others */
  struct graph_description {
    uint32_t node;
    char *text;
  } * descriptions; /* by node, in ascending order */
  size_t description_count, description_capacity;
  uint32_t *edge_begin;
  struct graph_edge {
    uint32_t to, field;
  } * edges;
  size_t edge_count, edge_capacity;
  uint64_t lost; /* edges and roots to blocks that the snapshot does not have */

  uint32_t *parent, *parent_field; /* NOWHERE: it is not reachable; of node 0 too */
  uint32_t *order;                 /* the reachable nodes, as the search met them */
  uint32_t reached;
  uint64_t bytes; /* of the blocks that are reachable */
};

/* Reads a snapshot of `count` bytes. WN_EFORMAT, WN_ENOMEM. The graph is freed by graph_free, also
 * after an error. */
wn_status graph_load(struct graph *graph, const void *bytes, size_t count);
void graph_free(struct graph *graph);

/* The name of a type: never NULL. */
const char *graph_type_name(const struct graph *graph, uint32_t type);

/* The name of a field; NULL: it has none. */
const char *graph_field_name(const struct graph *graph, uint32_t type, uint32_t field);

/* What the language says of a block; NULL: nothing. */
const char *graph_description(const struct graph *graph, uint32_t node);

/* Of items of `size` bytes in ascending order of their first member, a node: how many are of lower
 * nodes. */
size_t graph_place_of(const void *items, size_t count, size_t size, uint32_t node);

/* The bytes that a custom block has outside: no other block is larger than its words. 0 of a block
 * whose words are not known. */
static inline uint64_t graph_outside(const struct graph *graph, uint32_t node) {
  uint64_t words = graph->node_words[node];
  return words < UINT32_MAX && node >= graph->first_block ? graph->node_bytes[node] - 8 * (words + 1) : 0;
}

static inline bool graph_is_reachable(const struct graph *graph, uint32_t node) {
  return node == NODE_ALL || graph->parent[node] != NOWHERE;
}

#endif
/* SPDX-License-Identifier: MIT */
