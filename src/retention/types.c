/* The table of types. */
#include "retention/types.h"

#include "base/array.h"

struct making {
  const struct graph *graph;
  const struct dominators *dominators;
  struct type_row *by_type;
  uint32_t *open; /* by type: of the node's dominators, how many have the type */
};

static void types_enter(void *context, uint32_t node) {
  struct making *of = context;
  uint32_t type = graph_type(of->graph, node);
  if (node < of->graph->first_block) return;
  of->by_type[type].blocks++;
  of->by_type[type].bytes += graph_bytes(of->graph, node);
  if (!of->open[type]++) of->by_type[type].retained += of->dominators->nodes[node].retained;
}

static void types_leave(void *context, uint32_t node) {
  struct making *of = context;
  if (node >= of->graph->first_block) of->open[graph_type(of->graph, node)]--;
}

static int types_by_retained(const void *a, const void *b) {
  const struct type_row *one = a, *other = b;
  if (one->retained != other->retained) return one->retained < other->retained ? 1 : -1;
  return (one->type > other->type) - (one->type < other->type);
}

/* ---- shared ---- */

bool type_table_make(struct type_table *table, const struct graph *graph,
                     const struct dominators *dominators) {
  uint32_t most = 0;
  for (uint32_t node = 0; node < graph->node_count; node++)
    if (graph_type(graph, node) > most) most = graph_type(graph, node);
  struct making of = {graph, dominators, calloc(most + 1, sizeof *of.by_type),
                      calloc(most + 1, sizeof *of.open)};
  *table = (struct type_table){of.by_type, 0};
  bool enough = of.by_type && of.open;
  if (enough) {
    dominators_walk(dominators, &(struct dominators_walk){types_enter, types_leave, &of});
    for (uint32_t type = 0; type <= most; type++) {
      table->rows[type].type = type;
      if (table->rows[type].blocks) table->rows[table->count++] = table->rows[type];
    }
    array_sort(table->rows, table->count, sizeof *table->rows, types_by_retained);
  }
  free(of.open);
  return enough;
}

void type_table_free(struct type_table *table) { free(table->rows); }
/* SPDX-License-Identifier: MIT */
