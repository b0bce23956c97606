/* Loading a snapshot: it is read twice, for the nodes and then for the edges. */
#include "retention/graph.h"

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/index.h"
#include "retention/search.h"
#include <stdlib.h>
#include <string.h>

enum { PAGE_SHIFT = 9 }; /* of addresses / 8: pages of 4 KiB */

struct loading {
  struct graph *graph;
  size_t holder_capacity, type_capacity;
  struct block {
    uint64_t address, bytes;
    uint32_t words, type;
    uint8_t shape;
  } * blocks;
  size_t block_count, block_capacity;
  struct root {
    uint64_t target;
    uint32_t holder;
  } * roots;
  size_t root_count, root_capacity;
  struct index pages; /* of the first block in each page */

  /* Of the block whose edges are read. */
  uint32_t node;
  struct ephemeron ephemeron; /* if it is weak; data NOWHERE: it has none */
  size_t first_condition;
  struct ephemerons ephemerons; /* of the blocks before it; the conditions of this one, too */
};

static char *copy(struct snapshot_text text) { return strndup(text.at, text.length); }

/* ---- the nodes ---- */

static bool load_info(void *context, uint64_t process, uint64_t time_ns, struct snapshot_text command,
                      struct snapshot_text language) {
  struct graph *graph = ((struct loading *)context)->graph;
  if (graph->command) return true;
  graph->process = process;
  graph->time_ns = time_ns;
  return (graph->command = copy(command)) && (graph->language = copy(language));
}

static bool load_type(void *context, uint32_t type, struct snapshot_text name) {
  struct loading *loading = context;
  struct graph *graph = loading->graph;
  if (!type || type > SNAPSHOT_TYPES_MOST) return true;
  if (!array_reserve(&graph->types, &loading->type_capacity, (size_t)type + 1, sizeof *graph->types))
    return false;
  while (graph->type_count <= type) graph->types[graph->type_count++] = NULL;
  if (graph->types[type] || !name.length) return true;
  return (graph->types[type] = copy(name));
}

static bool load_field(void *context, uint32_t type, uint64_t field, struct snapshot_text name) {
  struct graph *graph = ((struct loading *)context)->graph;
  struct graph_field made = {type, (uint32_t)field, copy(name)};
  if (made.name && ARRAY_ADD(graph->fields, graph->field_count, graph->field_capacity, made)) return true;
  free(made.name);
  return false;
}

static bool load_holder(void *context, uint32_t holder, enum holder_kind kind, uint64_t domain,
                        struct snapshot_text name) {
  struct loading *loading = context;
  struct graph *graph = loading->graph;
  struct graph_holder made = {kind, domain, copy(name)};
  bool in_order = holder == graph->holder_count + 1;
  if (in_order && made.name && ARRAY_ADD(graph->holders, graph->holder_count, loading->holder_capacity, made))
    return true;
  free(made.name);
  return made.name && !in_order;
}

static bool load_root(void *context, uint32_t holder, uint64_t target) {
  struct loading *loading = context;
  return ARRAY_ADD(loading->roots, loading->root_count, loading->root_capacity,
                   (struct root){target, holder});
}

/* The description's node is a block's number until make_nodes. */
static bool load_block(void *context, const struct snapshot_record *record) {
  struct loading *loading = context;
  struct graph *graph = loading->graph;
  size_t at = loading->block_count;
  struct block made = {.address = record->address, .type = record->type, .shape = (uint8_t)record->shape};
  made.bytes = 8 * (record->words + 1) + record->outside;
  made.words = record->words < UINT32_MAX ? (uint32_t)record->words : UINT32_MAX;
  if (at >= UINT32_MAX / 2) return false;
  if (!at || loading->blocks[at - 1].address >> PAGE_SHIFT != made.address >> PAGE_SHIFT)
    if (!index_add(&loading->pages, hash_mix(made.address >> PAGE_SHIFT), (uint32_t)at + 1)) return false;
  if (record->description.length) {
    struct graph_description described = {(uint32_t)at, copy(record->description)};
    if (!described.text ||
        !ARRAY_ADD(graph->descriptions, graph->description_count, graph->description_capacity, described))
      return free(described.text), false;
  }
  return ARRAY_ADD(loading->blocks, loading->block_count, loading->block_capacity, made);
}

static bool load_trace(void *context, struct snapshot_text path) {
  struct graph *graph = ((struct loading *)context)->graph;
  return graph->trace || (graph->trace = copy(path));
}

static bool load_sample(void *context, uint64_t block, uint64_t number) {
  struct graph *graph = ((struct loading *)context)->graph;
  return ARRAY_ADD(graph->samples, graph->sample_count, graph->sample_capacity,
                   (struct graph_sample){block, number, NOWHERE});
}

/* ---- the edges ---- */

/* The node of a block at an address; NOWHERE: there is none. */
static uint32_t node_at(const struct loading *loading, uint64_t address) {
  struct index_walk walk = {.hash = hash_mix(address >> PAGE_SHIFT)};
  uint32_t first;
  while ((first = index_next(&loading->pages, &walk)))
    if (loading->blocks[first - 1].address >> PAGE_SHIFT == address >> PAGE_SHIFT) break;
  if (!first) return NOWHERE;
  size_t low = first - 1, left = loading->block_count - low, count = (size_t)1 << PAGE_SHIFT;
  for (count = low + (left < count ? left : count); low < count;) {
    size_t middle = low + (count - low) / 2;
    if (loading->blocks[middle].address < address)
      low = middle + 1;
    else
      count = middle;
  }
  bool found = low < loading->block_count && loading->blocks[low].address == address;
  return found ? (uint32_t)low + loading->graph->first_block : NOWHERE;
}

static bool add_edge(struct graph *graph, uint32_t field, uint32_t to) {
  if (to == NOWHERE) return graph->lost++, true;
  return graph->edge_count < UINT32_MAX &&
         ARRAY_ADD(graph->edges, graph->edge_count, graph->edge_capacity, (struct graph_edge){to, field});
}

static bool add_condition(struct loading *loading, uint32_t node) {
  struct ephemerons *of = &loading->ephemerons;
  return ARRAY_ADD(of->conditions, of->condition_count, of->condition_capacity,
                   (struct condition){node, (uint32_t)of->count});
}

/* A key that is there twice is one condition. */
static void drop_equal(struct ephemerons *of, size_t first) {
  size_t kept = first;
  array_sort(of->conditions + first, of->condition_count - first, sizeof *of->conditions, condition_compare);
  for (size_t i = first; i < of->condition_count; i++)
    if (i == first || of->conditions[i].node != of->conditions[kept - 1].node)
      of->conditions[kept++] = of->conditions[i];
  of->condition_count = kept;
}

/* The block whose edges were read is complete. */
static bool end_block(struct loading *loading) {
  struct ephemerons *of = &loading->ephemerons;
  struct ephemeron made = loading->ephemeron;
  if (made.data == NOWHERE) return of->condition_count = loading->first_condition, true;
  if (!add_condition(loading, loading->node)) return false;
  drop_equal(of, loading->first_condition);
  made.conditions = (uint32_t)(of->condition_count - loading->first_condition);
  made.last = NOWHERE;
  loading->ephemeron.data = NOWHERE;
  return ARRAY_ADD(of->items, of->count, of->capacity, made);
}

/* False of more blocks than there were at first: another program changes the file. */
static bool next_block(void *context, const struct snapshot_record *record) {
  struct loading *loading = context;
  (void)record;
  if (!end_block(loading) || loading->node + 1 >= loading->graph->node_count) return false;
  loading->node++;
  loading->graph->edge_begin[loading->node] = (uint32_t)loading->graph->edge_count;
  loading->first_condition = loading->ephemerons.condition_count;
  return true;
}

static bool load_edge(void *context, uint64_t field, uint64_t target) {
  struct loading *loading = context;
  uint32_t to = node_at(loading, target);
  if (loading->blocks[loading->node - loading->graph->first_block].shape != SHAPE_WEAK)
    return add_edge(loading->graph, field < FIELD_MOST ? (uint32_t)field : FIELD_MOST, to);
  if (to == NOWHERE) return loading->graph->lost++, true;
  if (field) return add_condition(loading, to);
  loading->ephemeron.data = to;
  return true;
}

static int by_holder(const void *a, const void *b) {
  const struct root *one = a, *other = b;
  return (one->holder > other->holder) - (one->holder < other->holder);
}

/* The edges of the first nodes: node 0 leads to the holders, and they to the targets of their
 * roots. */
static bool load_roots(struct loading *loading) {
  struct graph *graph = loading->graph;
  size_t root = 0;
  array_sort(loading->roots, loading->root_count, sizeof *loading->roots, by_holder);
  graph->edge_begin[NODE_ALL] = 0;
  for (uint32_t i = 0; i < graph->holder_count; i++)
    if (!add_edge(graph, FIELD_ROOT, NODE_HOLDERS + i)) return false;
  for (uint32_t i = 0; i < graph->holder_count; i++) {
    graph->edge_begin[NODE_HOLDERS + i] = (uint32_t)graph->edge_count;
    for (; root < loading->root_count && loading->roots[root].holder <= i + 1; root++)
      if (loading->roots[root].holder == i + 1 &&
          !add_edge(graph, FIELD_ROOT, node_at(loading, loading->roots[root].target)))
        return false;
  }
  return true;
}

/* ---- both ---- */

/* What the graph has of every node, of which the blocks are the last. */
static bool make_nodes(struct loading *loading) {
  struct graph *graph = loading->graph;
  size_t first = NODE_HOLDERS + graph->holder_count, count = first + loading->block_count;
  graph->first_block = (uint32_t)first;
  graph->node_count = (uint32_t)count;
  graph->node_bytes = calloc(count, sizeof *graph->node_bytes);
  graph->node_words = calloc(count, sizeof *graph->node_words);
  graph->node_type = calloc(count, sizeof *graph->node_type);
  graph->edge_begin = array_new(count + 1, sizeof *graph->edge_begin);
  graph->parent = array_new(count, sizeof *graph->parent);
  graph->parent_field = array_new(count, sizeof *graph->parent_field);
  graph->order = array_new(count, sizeof *graph->order);
  if (!graph->node_bytes || !graph->node_words || !graph->node_type || !graph->edge_begin || !graph->parent ||
      !graph->parent_field || !graph->order)
    return false;
  for (size_t i = 0; i < loading->block_count; i++) {
    graph->node_bytes[first + i] = loading->blocks[i].bytes;
    graph->node_words[first + i] = loading->blocks[i].words;
    graph->node_type[first + i] = loading->blocks[i].type;
  }
  for (size_t i = 0; i < graph->description_count; i++) graph->descriptions[i].node += graph->first_block;
  memset(graph->parent, 0xff, count * sizeof *graph->parent); /* NOWHERE */
  return true;
}

static wn_status load(struct loading *loading, const void *bytes, size_t count) {
  struct graph *graph = loading->graph;
  const struct snapshot_visitor nodes = {load_info,  load_type, load_field, load_holder, load_root,
                                         load_block, NULL,      load_trace, load_sample, loading};
  const struct snapshot_visitor edges = {.block = next_block, .edge = load_edge, .context = loading};
  bool complete;
  wn_status status = snapshot_read(bytes, count, &nodes, &graph->complete);
  if (status) return status;
  if (!make_nodes(loading) || !load_roots(loading)) return WN_ENOMEM;
  for (size_t i = 0; i < graph->sample_count; i++)
    graph->samples[i].node = node_at(loading, graph->samples[i].address);
  loading->node = graph->first_block - 1;
  loading->ephemeron.data = NOWHERE;
  status = snapshot_read(bytes, count, &edges, &complete);
  if (status) return status;
  if (!end_block(loading)) return WN_ENOMEM;
  graph->edge_begin[graph->node_count] = (uint32_t)graph->edge_count;
  return graph_search(graph, &loading->ephemerons) ? WN_OK : WN_ENOMEM;
}

/* ---- shared ---- */

wn_status graph_load(struct graph *graph, const void *bytes, size_t count) {
  struct loading loading = {.graph = graph};
  memset(graph, 0, sizeof *graph);
  wn_status status = load(&loading, bytes, count);
  free(loading.blocks), free(loading.roots), free(loading.pages.slots);
  free(loading.ephemerons.items), free(loading.ephemerons.conditions);
  return status == WN_ENOMEM ? error_set(WN_ENOMEM, "no memory for its blocks") : status;
}

void graph_free(struct graph *graph) {
  for (size_t i = 0; i < graph->type_count; i++) free(graph->types[i]);
  for (size_t i = 0; i < graph->field_count; i++) free(graph->fields[i].name);
  for (size_t i = 0; i < graph->holder_count; i++) free(graph->holders[i].name);
  for (size_t i = 0; i < graph->description_count; i++) free(graph->descriptions[i].text);
  free(graph->command), free(graph->language), free(graph->types), free(graph->fields), free(graph->holders);
  free(graph->descriptions);
  free(graph->trace), free(graph->samples);
  free(graph->node_bytes), free(graph->node_words), free(graph->node_type);
  free(graph->edge_begin), free(graph->edges);
  free(graph->parent), free(graph->parent_field), free(graph->order);
  memset(graph, 0, sizeof *graph);
}

const char *graph_type_name(const struct graph *graph, uint32_t type) {
  const char *name = type < graph->type_count ? graph->types[type] : NULL;
  return name ? name : "(unknown)";
}

const char *graph_field_name(const struct graph *graph, uint32_t type, uint32_t field) {
  for (size_t i = 0; i < graph->field_count; i++)
    if (graph->fields[i].type == type && graph->fields[i].field == field) return graph->fields[i].name;
  return NULL;
}

size_t graph_place_of(const void *items, size_t count, size_t size, uint32_t node) {
  size_t low = 0;
  while (low < count) {
    size_t middle = low + (count - low) / 2;
    uint32_t there;
    memcpy(&there, (const char *)items + middle * size, sizeof there);
    if (there < node)
      low = middle + 1;
    else
      count = middle;
  }
  return low;
}

const char *graph_description(const struct graph *graph, uint32_t node) {
  const struct graph_description *all = graph->descriptions;
  size_t at = graph_place_of(all, graph->description_count, sizeof *all, node);
  return at < graph->description_count && all[at].node == node ? all[at].text : NULL;
}
/* SPDX-License-Identifier: MIT */
