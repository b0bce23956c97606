/* Sums the bytes of each type in each holder. */
#include "cli/heap/type_holders.h"

#include "base/array.h"
#include "base/hash.h"

struct part {
  uint32_t type, node;
  uint64_t bytes;
};

struct summing {
  const struct heap_file *file;
  uint32_t holder, named; /* named: the outermost one, of the node where the walk is; or 0 */
  struct part *parts;
  size_t count, capacity;
  struct index by_part;
  bool enough;
};

static struct part *type_holders_part_of(struct summing *of, uint32_t type, uint32_t node) {
  struct index_walk walk = {.hash = hash_mix((uint64_t)type << 32 | node)};
  uint32_t number;
  while ((number = index_next(&of->by_part, &walk)))
    if (of->parts[number - 1].type == type && of->parts[number - 1].node == node)
      return &of->parts[number - 1];
  of->enough = of->enough && ARRAY_ADD(of->parts, of->count, of->capacity, ((struct part){type, node, 0})) &&
               index_add(&of->by_part, walk.hash, (uint32_t)of->count);
  return of->enough ? &of->parts[of->count - 1] : NULL;
}

static void type_holders_enter(void *context, uint32_t node) {
  struct summing *of = context;
  const struct graph *graph = &of->file->graph;
  if (node == NODE_ALL) return;
  if (of->file->dominators.nodes[node].dominator == NODE_ALL)
    of->holder = node < graph->first_block ? node : NODE_ALL;
  if (node < graph->first_block) return;
  if (!of->named && graph_description(graph, node)) of->named = node;
  struct part *part = type_holders_part_of(of, graph_type(graph, node), of->named ? of->named : of->holder);
  if (part) part->bytes += graph_bytes(graph, node);
}

static void type_holders_leave(void *context, uint32_t node) {
  struct summing *of = context;
  if (node == of->named) of->named = 0;
}

/* ---- shared ---- */

bool type_holders_find(struct type_holders *holders, const struct heap_file *file) {
  struct summing of = {.file = file, .enough = true};
  uint32_t most = 0;
  for (size_t i = 0; i < file->types.count; i++)
    if (file->types.rows[i].type > most) most = file->types.rows[i].type;
  holders->of_type = calloc((size_t)most + 1, sizeof *holders->of_type);
  of.enough = holders->of_type;
  if (of.enough)
    dominators_walk(&file->dominators,
                    &(struct dominators_walk){type_holders_enter, type_holders_leave, &of});
  for (size_t i = 0; of.enough && i < of.count; i++) {
    struct type_holder *holder = &holders->of_type[of.parts[i].type];
    if (of.parts[i].bytes > holder->bytes)
      *holder = (struct type_holder){of.parts[i].node, of.parts[i].bytes};
  }
  free(of.parts), free(of.by_part.slots);
  return of.enough;
}

void type_holders_free(struct type_holders *holders) { free(holders->of_type); }
/* SPDX-License-Identifier: MIT */
