/* The table of nodes. */
#include "sources/memtrace_nodes.h"

#include "base/array.h"
#include "base/hash.h"
#include <stdlib.h>

enum { FIRST_SLOTS = 1024, NODES_MOST = 1 << 28, MODULE = 1 };

static size_t slot_of(uint32_t parent, uint64_t code, size_t slots) {
  return hash_mix(code * 0x9e3779b97f4a7c15u + parent) & (slots - 1);
}

/* The slot of a call, or the empty one where it belongs. */
static uint32_t *find(const struct memtrace_nodes *nodes, uint32_t *table, size_t slots, uint32_t caller,
                      uint64_t code) {
  size_t i = slot_of(caller, code, slots);
  while (table[i] && (nodes->calls[table[i]].code != code || nodes->calls[table[i]].caller != caller))
    i = (i + 1) & (slots - 1);
  return &table[i];
}

static bool double_table(struct memtrace_nodes *nodes) {
  size_t slots = 2 * nodes->slots;
  uint32_t *table = calloc(slots, sizeof *table);
  if (!table) return false;
  for (uint32_t i = 1; i <= nodes->call_count; i++)
    *find(nodes, table, slots, nodes->calls[i].caller, nodes->calls[i].code) = i;
  free(nodes->table);
  nodes->table = table;
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
  nodes->capacity = larger;
  return true;
}

/* Has room for one more call. */
static bool reserve_call(struct memtrace_nodes *nodes) {
  if (2 * (size_t)nodes->call_count >= nodes->slots && !double_table(nodes)) return false;
  if (nodes->call_count + 1 < nodes->call_capacity) return true;
  uint32_t larger = 2 * nodes->call_capacity;
  struct memtrace_call *calls = realloc(nodes->calls, larger * sizeof *calls);
  if (!calls) return false;
  nodes->calls = calls;
  uint32_t *node_of = realloc(nodes->node_of, larger * sizeof *node_of);
  if (!node_of) return false;
  nodes->node_of = node_of;
  nodes->call_capacity = larger;
  return true;
}

static uint32_t add(struct memtrace_nodes *nodes, uint32_t parent, uint32_t module, uint64_t offset) {
  nodes->nodes[++nodes->count] = (struct trace_node){parent, module, offset};
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

/* The call of a code by `caller`, found in the table or added; 0 without memory. */
static uint32_t look_up(struct memtrace_nodes *nodes, uint32_t caller, uint64_t code) {
  uint32_t found = *find(nodes, nodes->table, nodes->slots, caller, code);
  if (found) return found;
  uint32_t node = reserve_call(nodes) ? add_code(nodes, nodes->node_of[caller], code) : 0;
  if (!node) return 0;
  uint32_t call = ++nodes->call_count;
  *find(nodes, nodes->table, nodes->slots, caller, code) = call;
  nodes->calls[call] = (struct memtrace_call){code, caller, 0};
  nodes->node_of[call] = node;
  return call;
}

static inline bool is_call(const struct memtrace_call *call, uint32_t caller, uint64_t code) {
  return call->code == code && call->caller == caller;
}

static uint32_t call_elsewhere(struct memtrace_nodes *nodes, uint32_t caller, uint64_t code) {
  uint32_t last = nodes->calls[caller].last;
  if (last && is_call(&nodes->calls[last], caller, code)) return last;
  uint32_t call = look_up(nodes, caller, code);
  nodes->calls[caller].last = call;
  return call;
}

static inline uint32_t call_of(struct memtrace_nodes *nodes, uint32_t caller, uint64_t code) {
  uint32_t next = caller + 1;
  return next <= nodes->call_count && is_call(&nodes->calls[next], caller, code)
             ? next
             : call_elsewhere(nodes, caller, code);
}

static struct trace_text text_of(const struct memtrace_names *names, uint32_t number) {
  return trace_text_of(memtrace_text(names, number));
}

/* ---- shared ---- */

bool memtrace_nodes_create(struct memtrace_nodes *nodes, const struct memtrace_names *names,
                           uint32_t domains) {
  *nodes = (struct memtrace_nodes){.names = names,
                                   .slots = FIRST_SLOTS,
                                   .capacity = FIRST_SLOTS,
                                   .call_capacity = FIRST_SLOTS,
                                   .path_count = domains};
  nodes->nodes = calloc(FIRST_SLOTS, sizeof *nodes->nodes);
  nodes->calls = calloc(FIRST_SLOTS, sizeof *nodes->calls);
  nodes->node_of = calloc(FIRST_SLOTS, sizeof *nodes->node_of);
  nodes->table = calloc(FIRST_SLOTS, sizeof *nodes->table);
  nodes->paths = calloc((size_t)domains + 1, sizeof *nodes->paths);
  return nodes->nodes && nodes->calls && nodes->node_of && nodes->table && nodes->paths;
}

void memtrace_nodes_destroy(struct memtrace_nodes *nodes) {
  for (uint32_t i = 0; nodes->paths && i < nodes->path_count; i++) free(nodes->paths[i].calls);
  free(nodes->paths);
  free(nodes->table);
  free(nodes->node_of);
  free(nodes->calls);
  free(nodes->nodes);
}

bool memtrace_nodes_of(struct memtrace_nodes *nodes, uint32_t domain, const struct memtrace_stack *stack,
                       uint32_t *node) {
  struct memtrace_path *path = &nodes->paths[domain];
  if (!array_reserve(&path->calls, &path->capacity, stack->depth, sizeof *path->calls)) return false;
  const uint64_t *codes = stack->codes;
  uint32_t last = stack->common ? path->calls[stack->common - 1] : 0;
  for (size_t i = stack->common, depth = stack->depth; i < depth; i++) {
    bool repeated = codes[i] == MEMTRACE_LOST && i && codes[i - 1] == MEMTRACE_LOST;
    if (!repeated && !(last = call_of(nodes, last, codes[i]))) return false;
    path->calls[i] = last;
  }
  *node = nodes->node_of[last];
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
