/* The table of nodes. */
#include "sources/traces/memtrace_nodes.h"

#include "base/array.h"
#include "base/hash.h"
#include <stdlib.h>

enum { NODES_MOST = 1 << 28, MODULE = 1 };

static uint64_t memtrace_nodes_hash_of(uint32_t caller, uint64_t code) {
  return hash_mix(code * 0x9e3779b97f4a7c15u + caller);
}

/* Has room for so many more nodes. */
static bool memtrace_nodes_reserve(struct memtrace_nodes *nodes, uint32_t more) {
  size_t wanted = (size_t)nodes->count + more + 1;
  return wanted <= NODES_MOST && array_reserve(&nodes->nodes, &nodes->capacity, wanted, sizeof *nodes->nodes);
}

/* Has room for one more call. */
static bool reserve_call(struct memtrace_nodes *nodes) {
  size_t wanted = (size_t)nodes->call_count + 2;
  return array_reserve(&nodes->calls, &nodes->call_capacity, wanted, sizeof *nodes->calls) &&
         array_reserve(&nodes->node_of, &nodes->node_of_capacity, wanted, sizeof *nodes->node_of);
}

static uint32_t memtrace_nodes_add(struct memtrace_nodes *nodes, uint32_t parent, uint32_t module,
                                   uint64_t offset) {
  nodes->nodes[++nodes->count] = (struct trace_node){parent, module, offset};
  return nodes->count;
}

/* Adds the nodes of a code; the innermost of them, or 0 without memory. */
static uint32_t memtrace_nodes_add_code(struct memtrace_nodes *nodes, uint32_t parent, uint64_t code) {
  struct memtrace_locations locations = memtrace_locations_of(nodes->names, code);
  if (!memtrace_nodes_reserve(nodes, locations.count + 1)) return 0;
  if (code == MEMTRACE_LOST)
    return memtrace_nodes_add(nodes, parent, MODULE, (uint64_t)nodes->names->location_count + 1);
  if (!locations.count) return memtrace_nodes_add(nodes, parent, 0, code);
  for (uint32_t i = 0; i < locations.count; i++)
    parent = memtrace_nodes_add(nodes, parent, MODULE, (uint64_t)locations.first + i + 1);
  return parent;
}

static inline bool memtrace_nodes_is_call(const struct memtrace_call *call, uint32_t caller, uint64_t code) {
  return call->code == code && call->caller == caller;
}

/* The call of a code by `caller`, found in the index or added; 0 without memory. */
static uint32_t memtrace_nodes_look_up(struct memtrace_nodes *nodes, uint32_t caller, uint64_t code) {
  struct index_walk walk = {.hash = memtrace_nodes_hash_of(caller, code)};
  uint32_t found;
  while ((found = index_next(&nodes->by_code, &walk)))
    if (memtrace_nodes_is_call(&nodes->calls[found], caller, code)) return found;
  uint32_t node = reserve_call(nodes) ? memtrace_nodes_add_code(nodes, nodes->node_of[caller], code) : 0;
  if (!node || !index_add(&nodes->by_code, walk.hash, nodes->call_count + 1)) return 0;
  uint32_t call = ++nodes->call_count;
  nodes->calls[call] = (struct memtrace_call){code, caller, 0};
  nodes->node_of[call] = node;
  return call;
}

static uint32_t call_elsewhere(struct memtrace_nodes *nodes, uint32_t caller, uint64_t code) {
  uint32_t last = nodes->calls[caller].last;
  if (last && memtrace_nodes_is_call(&nodes->calls[last], caller, code)) return last;
  uint32_t call = memtrace_nodes_look_up(nodes, caller, code);
  nodes->calls[caller].last = call;
  return call;
}

static inline uint32_t call_of(struct memtrace_nodes *nodes, uint32_t caller, uint64_t code) {
  uint32_t next = caller + 1;
  return next <= nodes->call_count && memtrace_nodes_is_call(&nodes->calls[next], caller, code)
             ? next
             : call_elsewhere(nodes, caller, code);
}

static struct trace_text memtrace_nodes_text_of(const struct memtrace_names *names, uint32_t number) {
  return trace_text_of(memtrace_text(names, number));
}

/* ---- shared ---- */

bool memtrace_nodes_create(struct memtrace_nodes *nodes, const struct memtrace_names *names,
                           uint32_t domains) {
  *nodes = (struct memtrace_nodes){.names = names, .path_count = domains};
  nodes->paths = calloc((size_t)domains + 1, sizeof *nodes->paths);
  if (!nodes->paths || !memtrace_nodes_reserve(nodes, 0) || !reserve_call(nodes)) return false;
  nodes->nodes[0] = (struct trace_node){0};
  nodes->calls[0] = (struct memtrace_call){0};
  nodes->node_of[0] = 0;
  return true;
}

void memtrace_nodes_destroy(struct memtrace_nodes *nodes) {
  for (uint32_t i = 0; nodes->paths && i < nodes->path_count; i++) free(nodes->paths[i].calls);
  free(nodes->paths);
  free(nodes->by_code.slots);
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
  place->function = memtrace_nodes_text_of(names, location->function);
  place->file = memtrace_nodes_text_of(names, location->file);
  if (location->line < MEMTRACE_LINE_MOST) place->line = location->line;
  if (location->start < MEMTRACE_START_MOST) place->first_column = location->start + 1;
  if (location->end < MEMTRACE_END_MOST) place->last_column = location->end;
  return true;
}
/* SPDX-License-Identifier: MIT */
