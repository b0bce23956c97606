/* The table of nodes. */
#include "sources/memtrace_nodes.h"

#include "base/hash.h"
#include <stdlib.h>

enum { FIRST_SLOTS = 1024, NODES_MOST = 1 << 28, MODULE = 1 };

static size_t slot_of(uint32_t parent, uint64_t code, size_t slots) {
  return hash_mix(code * 0x9e3779b97f4a7c15u + parent) & (slots - 1);
}

static struct memtrace_child *find(struct memtrace_child *children, size_t slots, uint32_t parent,
                                   uint64_t code) {
  size_t i = slot_of(parent, code, slots);
  while (children[i].node && (children[i].code != code || children[i].parent != parent))
    i = (i + 1) & (slots - 1);
  return &children[i];
}

static bool double_children(struct memtrace_nodes *nodes) {
  size_t slots = 2 * nodes->slots;
  struct memtrace_child *children = calloc(slots, sizeof *children);
  if (!children) return false;
  for (size_t i = 0; i < nodes->slots; i++) {
    const struct memtrace_child *child = &nodes->children[i];
    if (child->node) *find(children, slots, child->parent, child->code) = *child;
  }
  free(nodes->children);
  nodes->children = children;
  nodes->slots = slots;
  return true;
}

/* Has room for so many more nodes. */
static bool reserve(struct memtrace_nodes *nodes, uint32_t more) {
  uint32_t larger = nodes->capacity;
  while (larger <= nodes->count + more && larger < NODES_MOST) larger *= 2;
  if (larger <= nodes->count + more) return false;
  if (larger == nodes->capacity) return true;
  struct trace_node *moved = realloc(nodes->nodes, larger * sizeof *moved);
  if (!moved) return false;
  nodes->nodes = moved;
  struct memtrace_called *called = realloc(nodes->called, larger * sizeof *called);
  if (!called) return false;
  nodes->called = called;
  nodes->capacity = larger;
  return true;
}

static uint32_t add(struct memtrace_nodes *nodes, uint32_t parent, uint32_t module, uint64_t offset) {
  nodes->nodes[++nodes->count] = (struct trace_node){parent, module, offset};
  nodes->called[nodes->count] = (struct memtrace_called){0};
  return nodes->count;
}

/* Adds the nodes of a code; the innermost of them, or 0 without memory. */
static uint32_t add_code(struct memtrace_nodes *nodes, uint32_t parent, uint64_t code) {
  struct memtrace_locations locations = memtrace_locations_of(nodes->names, code);
  if (!reserve(nodes, locations.count + 1)) return 0;
  if (code == MEMTRACE_LOST) return add(nodes, parent, MODULE, (uint64_t)nodes->names->location_count + 1);
  if (!locations.count) return add(nodes, parent, 0, code);
  for (uint32_t i = 0; i < locations.count; i++)
    parent = add(nodes, parent, MODULE, (uint64_t)locations.first + i + 1);
  return parent;
}

/* The node of a code called by `parent`, found in the table or added; 0 without memory. */
static uint32_t look_up(struct memtrace_nodes *nodes, uint32_t parent, uint64_t code) {
  struct memtrace_child *child = find(nodes->children, nodes->slots, parent, code);
  if (child->node) return child->node;
  if (2 * (size_t)nodes->child_count >= nodes->slots) {
    if (!double_children(nodes)) return 0;
    child = find(nodes->children, nodes->slots, parent, code);
  }
  *child = (struct memtrace_child){code, parent, add_code(nodes, parent, code)};
  nodes->child_count += child->node != 0;
  return child->node;
}

static uint32_t child_of(struct memtrace_nodes *nodes, uint32_t parent, uint64_t code) {
  struct memtrace_called *called = &nodes->called[parent];
  if (called->node && called->code == code) return called->node;
  uint32_t node = look_up(nodes, parent, code);
  nodes->called[parent] = (struct memtrace_called){code, node};
  return node;
}

static bool reserve_path(struct memtrace_path *path, size_t depth) {
  size_t larger = path->capacity ? path->capacity : FIRST_SLOTS;
  while (larger < depth) larger *= 2;
  if (larger == path->capacity) return true;
  uint32_t *moved = realloc(path->nodes, larger * sizeof *moved);
  if (!moved) return false;
  path->nodes = moved;
  path->capacity = larger;
  return true;
}

static struct trace_text text_of(const struct memtrace_names *names, uint32_t number) {
  return trace_text_of(memtrace_text(names, number));
}

/* ---- shared ---- */

bool memtrace_nodes_create(struct memtrace_nodes *nodes, const struct memtrace_names *names,
                           uint32_t domains) {
  *nodes = (struct memtrace_nodes){
      .names = names, .slots = FIRST_SLOTS, .capacity = FIRST_SLOTS, .path_count = domains};
  nodes->nodes = calloc(FIRST_SLOTS, sizeof *nodes->nodes);
  nodes->called = calloc(FIRST_SLOTS, sizeof *nodes->called);
  nodes->children = calloc(FIRST_SLOTS, sizeof *nodes->children);
  nodes->paths = calloc((size_t)domains + 1, sizeof *nodes->paths);
  return nodes->nodes && nodes->called && nodes->children && nodes->paths;
}

void memtrace_nodes_destroy(struct memtrace_nodes *nodes) {
  for (uint32_t i = 0; nodes->paths && i < nodes->path_count; i++) free(nodes->paths[i].nodes);
  free(nodes->paths);
  free(nodes->children);
  free(nodes->called);
  free(nodes->nodes);
}

bool memtrace_nodes_of(struct memtrace_nodes *nodes, uint32_t domain, const struct memtrace_stack *stack,
                       uint32_t *node) {
  struct memtrace_path *path = &nodes->paths[domain];
  if (!reserve_path(path, stack->depth)) return false;
  uint32_t last = stack->common ? path->nodes[stack->common - 1] : 0;
  for (size_t i = stack->common; i < stack->depth; i++) {
    bool repeated = i && stack->codes[i] == MEMTRACE_LOST && stack->codes[i - 1] == MEMTRACE_LOST;
    if (!repeated && !(last = child_of(nodes, last, stack->codes[i]))) return false;
    path->nodes[i] = last;
  }
  *node = last;
  return true;
}

bool memtrace_place_of(const struct memtrace_names *names, uint64_t offset, struct trace_place *place) {
  if (!offset || offset > (uint64_t)names->location_count + 1) return false;
  *place = (struct trace_place){.function = trace_text_of("(lost)"), .file = trace_text_of("")};
  if (offset > names->location_count) return true;
  const struct memtrace_location *location = &names->locations[offset - 1];
  place->function = text_of(names, location->function);
  place->file = text_of(names, location->file);
  if (location->line < MEMTRACE_LINE_MOST) place->line = location->line;
  if (location->start < MEMTRACE_START_MOST) place->first_column = location->start + 1;
  if (location->end < MEMTRACE_END_MOST) place->last_column = location->end;
  return true;
}
/* SPDX-License-Identifier: MIT */
