/* Loading a snapshot: it is read twice, for the nodes and then for the edges. */
#include "retention/graph.h"

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/index.h"
#include "retention/search.h"
#include <stdlib.h>
#include <string.h>

enum { PAGE_SHIFT = 9, PAGE_WORDS = 1 << PAGE_SHIFT }; /* of addresses / 8: pages of 4 KiB */

static const size_t blocks_most = UINT32_MAX / 2;

struct loading {
  struct graph *graph;
  size_t holder_capacity, type_capacity;
  size_t block_count, block_capacity;
  struct page {
    uint64_t address;                 /* >> PAGE_SHIFT */
    uint64_t begins[PAGE_WORDS / 64]; /* a bit for each address at which a block begins */
    uint32_t first;                   /* how many blocks begin below the page */
  } * pages;                          /* in which blocks begin, in ascending order */
  size_t page_count, page_capacity;
  uint64_t last; /* the address of the last block */
  struct root {
    uint64_t target;
    uint32_t holder;
  } * roots;
  size_t root_count, root_capacity;
  struct index by_address; /* of the pages */

  /* Of the block whose edges are read. */
  uint32_t node;
  bool weak;
  struct graph_adding adding;
  struct ephemeron ephemeron; /* if it is weak; data NOWHERE: it has none */
  size_t first_condition;
  struct ephemerons ephemerons; /* of the blocks before it; the conditions of this one, too */
};

static char *graph_copy(struct snapshot_text text) { return strndup(text.at, text.length); }

/* ---- the nodes ---- */

static bool load_info(void *context, uint64_t process, uint64_t time_ns, struct snapshot_text command,
                      struct snapshot_text language) {
  struct graph *graph = ((struct loading *)context)->graph;
  if (graph->command) return true;
  graph->process = process;
  graph->time_ns = time_ns;
  return (graph->command = graph_copy(command)) && (graph->language = graph_copy(language));
}

static bool load_type(void *context, uint32_t type, struct snapshot_text name) {
  struct loading *loading = context;
  struct graph *graph = loading->graph;
  if (!type || type > SNAPSHOT_TYPES_MOST) return true;
  if (!array_reserve(&graph->types, &loading->type_capacity, (size_t)type + 1, sizeof *graph->types))
    return false;
  while (graph->type_count <= type) graph->types[graph->type_count++] = NULL;
  if (graph->types[type] || !name.length) return true;
  return (graph->types[type] = graph_copy(name));
}

static bool load_field(void *context, uint32_t type, uint64_t field, struct snapshot_text name) {
  struct graph *graph = ((struct loading *)context)->graph;
  struct graph_field made = {type, (uint32_t)field, graph_copy(name)};
  if (made.name && ARRAY_ADD(graph->fields, graph->field_count, graph->field_capacity, made)) return true;
  free(made.name);
  return false;
}

static bool load_holder(void *context, uint32_t holder, enum holder_kind kind, uint64_t domain,
                        struct snapshot_text name) {
  struct loading *loading = context;
  struct graph *graph = loading->graph;
  struct graph_holder made = {kind, domain, graph_copy(name)};
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

/* Notes where the next block begins. */
static bool graph_add_address(struct loading *loading, uint64_t address) {
  uint64_t number = address >> PAGE_SHIFT;
  if (!loading->block_count || loading->last >> PAGE_SHIFT != number) {
    struct page made = {.address = number, .first = (uint32_t)loading->block_count};
    if (!ARRAY_ADD(loading->pages, loading->page_count, loading->page_capacity, made) ||
        !index_add(&loading->by_address, hash_mix(number), (uint32_t)loading->page_count))
      return false;
  }
  uint64_t at = address % PAGE_WORDS;
  loading->pages[loading->page_count - 1].begins[at / 64] |= (uint64_t)1 << at % 64;
  loading->last = address;
  return true;
}

/* The nodes of a description and of a large block are the block's number until graph_make_nodes. */
static bool load_block(void *context, const struct snapshot_record *record) {
  struct loading *loading = context;
  struct graph *graph = loading->graph;
  uint32_t at = (uint32_t)loading->block_count, words = WORDS_LARGE;
  if (loading->block_count >= blocks_most || !graph_add_address(loading, record->address)) return false;
  if (record->words < WORDS_LARGE && !record->outside)
    words = (uint32_t)record->words;
  else if (!ARRAY_ADD(graph->large, graph->large_count, graph->large_capacity,
                      (struct graph_large){at, record->words, record->outside}))
    return false;
  if (record->description.length) {
    struct graph_description described = {at, graph_copy(record->description)};
    if (!described.text ||
        !ARRAY_ADD(graph->descriptions, graph->description_count, graph->description_capacity, described))
      return free(described.text), false;
  }
  return ARRAY_ADD(graph->blocks, loading->block_count, loading->block_capacity,
                   record->type << WORDS_BITS | words);
}

static bool load_trace(void *context, struct snapshot_text path) {
  struct graph *graph = ((struct loading *)context)->graph;
  return graph->trace || (graph->trace = graph_copy(path));
}

static bool load_sample(void *context, uint64_t block, uint64_t number) {
  struct graph *graph = ((struct loading *)context)->graph;
  return ARRAY_ADD(graph->samples, graph->sample_count, graph->sample_capacity,
                   (struct graph_sample){block, number, NOWHERE});
}

/* ---- the edges ---- */

/* The node of a block at an address; NOWHERE: there is none. */
static uint32_t node_at(const struct loading *loading, uint64_t address) {
  uint64_t number = address >> PAGE_SHIFT, word = address % PAGE_WORDS / 64,
           bit = (uint64_t)1 << address % 64;
  struct index_walk walk = {.hash = hash_mix(number)};
  uint32_t found;
  while ((found = index_next(&loading->by_address, &walk)))
    if (loading->pages[found - 1].address == number) break;
  const struct page *page = found ? &loading->pages[found - 1] : NULL;
  if (!page || !(page->begins[word] & bit)) return NOWHERE;
  uint32_t node = loading->graph->first_block + page->first;
  for (uint64_t i = 0; i < word; i++) node += (uint32_t)__builtin_popcountll(page->begins[i]);
  return node + (uint32_t)__builtin_popcountll(page->begins[word] & (bit - 1));
}

static bool add_edge(struct loading *loading, uint32_t field, uint32_t to) {
  if (to != NOWHERE) return graph_add_edge(&loading->adding, field, to);
  return loading->graph->lost++, true;
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
static bool graph_end_block(struct loading *loading) {
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
  if (!graph_end_block(loading) || loading->node + 1 >= loading->graph->node_count) return false;
  loading->node++;
  loading->weak = record->shape == SHAPE_WEAK;
  graph_begin_edges(&loading->adding, loading->node);
  loading->first_condition = loading->ephemerons.condition_count;
  return true;
}

static bool load_edge(void *context, uint64_t field, uint64_t target) {
  struct loading *loading = context;
  uint32_t to = node_at(loading, target);
  if (!loading->weak) return add_edge(loading, field < FIELD_MOST ? (uint32_t)field : FIELD_MOST, to);
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
  graph_begin_edges(&loading->adding, NODE_ALL);
  for (uint32_t i = 0; i < graph->holder_count; i++)
    if (!add_edge(loading, FIELD_ROOT, NODE_HOLDERS + i)) return false;
  for (uint32_t i = 0; i < graph->holder_count; i++) {
    graph_begin_edges(&loading->adding, NODE_HOLDERS + i);
    for (; root < loading->root_count && loading->roots[root].holder <= i + 1; root++)
      if (loading->roots[root].holder == i + 1 &&
          !add_edge(loading, FIELD_ROOT, node_at(loading, loading->roots[root].target)))
        return false;
  }
  return true;
}

/* ---- both ---- */

/* Numbers the nodes, of which the blocks are the last. */
static bool graph_make_nodes(struct loading *loading) {
  struct graph *graph = loading->graph;
  size_t first = NODE_HOLDERS + graph->holder_count, count = first + loading->block_count;
  if (count >= NOWHERE) return false;
  graph->first_block = (uint32_t)first;
  graph->node_count = (uint32_t)count;
  for (size_t i = 0; i < graph->description_count; i++) graph->descriptions[i].node += graph->first_block;
  for (size_t i = 0; i < graph->large_count; i++) graph->large[i].node += graph->first_block;
  return (graph->edge_begin = array_new(count + 1, sizeof *graph->edge_begin));
}

static wn_status load_graph(struct loading *loading, const void *bytes, size_t count) {
  struct graph *graph = loading->graph;
  const struct snapshot_visitor nodes = {load_info,  load_type, load_field, load_holder, load_root,
                                         load_block, NULL,      load_trace, load_sample, loading};
  const struct snapshot_visitor edges = {.block = next_block, .edge = load_edge, .context = loading};
  bool complete;
  wn_status status = snapshot_read(bytes, count, &nodes, &graph->complete);
  if (status) return status;
  if (!graph_make_nodes(loading) || !load_roots(loading)) return WN_ENOMEM;
  for (size_t i = 0; i < graph->sample_count; i++)
    graph->samples[i].node = node_at(loading, graph->samples[i].address);
  loading->node = graph->first_block - 1;
  loading->ephemeron.data = NOWHERE;
  status = snapshot_read(bytes, count, &edges, &complete);
  if (status) return status;
  if (!graph_end_block(loading)) return WN_ENOMEM;
  graph_begin_edges(&loading->adding, graph->node_count);
  return graph_hang_data(graph, &loading->ephemerons) ? WN_OK : WN_ENOMEM;
}

/* ---- shared ---- */

wn_status graph_load(struct graph *graph, const void *bytes, size_t count) {
  struct loading loading = {.graph = graph, .adding = {.graph = graph}};
  memset(graph, 0, sizeof *graph);
  wn_status status = load_graph(&loading, bytes, count);
  free(loading.roots), free(loading.pages), free(loading.by_address.slots);
  free(loading.ephemerons.items), free(loading.ephemerons.conditions);
  if (status == WN_ENOMEM && (loading.block_count >= blocks_most || graph->edge_count >= graph_edges_most))
    return error_set(WN_ENOMEM, "it has 2^31 blocks or 2^32 references, or more");
  return status == WN_ENOMEM ? error_set(WN_ENOMEM, "no memory for its blocks") : status;
}

void graph_free_nodes(struct graph *graph) {
  free(graph->blocks), free(graph->large);
  free(graph->edge_begin), free(graph->edges), free(graph->steps), free(graph->far);
  free(graph->parent), free(graph->order);
  graph->blocks = graph->edge_begin = graph->edges = graph->parent = graph->order = NULL;
  graph->large = NULL, graph->steps = NULL, graph->far = NULL;
}

void graph_free(struct graph *graph) {
  for (size_t i = 0; i < graph->type_count; i++) free(graph->types[i]);
  for (size_t i = 0; i < graph->field_count; i++) free(graph->fields[i].name);
  for (size_t i = 0; i < graph->holder_count; i++) free(graph->holders[i].name);
  for (size_t i = 0; i < graph->description_count; i++) free(graph->descriptions[i].text);
  free(graph->command), free(graph->language), free(graph->types), free(graph->fields), free(graph->holders);
  free(graph->descriptions);
  free(graph->trace), free(graph->samples);
  graph_free_nodes(graph);
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

size_t graph_place_of(const void *items, size_t count, size_t size, uint32_t number) {
  size_t low = 0;
  while (low < count) {
    size_t middle = low + (count - low) / 2;
    uint32_t there;
    memcpy(&there, (const char *)items + middle * size, sizeof there);
    if (there < number)
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

static struct graph_large graph_size_of(const struct graph *graph, uint32_t node) {
  if (node < graph->first_block) return (struct graph_large){.node = node};
  uint32_t words = graph->blocks[node - graph->first_block] & WORDS_LARGE;
  if (words < WORDS_LARGE) return (struct graph_large){.node = node, .words = words};
  return graph->large[graph_place_of(graph->large, graph->large_count, sizeof *graph->large, node)];
}

uint64_t graph_words(const struct graph *graph, uint32_t node) { return graph_size_of(graph, node).words; }

uint64_t graph_outside(const struct graph *graph, uint32_t node) {
  return graph_size_of(graph, node).outside;
}

uint64_t graph_bytes(const struct graph *graph, uint32_t node) {
  struct graph_large size = graph_size_of(graph, node);
  return node < graph->first_block ? 0 : 8 * (size.words + 1) + size.outside;
}

bool edge_next(struct edge_walk *walk) {
  const struct graph *graph = walk->graph;
  if (walk->at == walk->end) return false;
  if (graph->steps[walk->at] < STEP_FAR)
    walk->field += graph->steps[walk->at];
  else
    walk->field =
        graph->far[graph_place_of(graph->far, graph->far_count, sizeof *graph->far, walk->at)].field;
  walk->to = graph->edges[walk->at++];
  return true;
}

uint32_t graph_field_to(const struct graph *graph, uint32_t node, uint32_t to) {
  for (struct edge_walk edge = graph_edges(graph, node); edge_next(&edge);)
    if (edge.to == to) return edge.field;
  return NOWHERE;
}
/* SPDX-License-Identifier: MIT */
