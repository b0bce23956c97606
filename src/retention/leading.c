/* A search from a block against the edges. */
#include "retention/leading.h"

#include "base/array.h"

/* ---- shared ---- */

bool leading_open(struct leading *leading, const struct graph *graph) {
  uint32_t count = graph->node_count;
  *leading = (struct leading){.graph = graph,
                              .begin = calloc((size_t)count + 2, sizeof *leading->begin),
                              .from = array_new(graph->edge_count, sizeof *leading->from),
                              .met = calloc(node_set_bytes(graph), 1),
                              .queue = array_new(count, sizeof *leading->queue)};
  if (!leading->begin || !leading->from || !leading->met || !leading->queue) return false;
  for (size_t i = 0; i < graph->edge_count; i++) leading->begin[graph->edges[i] + 2]++;
  for (uint32_t node = 0; node < count; node++) leading->begin[node + 2] += leading->begin[node + 1];
  for (uint32_t node = 0; node < count; node++)
    for (uint32_t i = graph->edge_begin[node]; i < graph->edge_begin[node + 1]; i++)
      leading->from[leading->begin[graph->edges[i] + 1]++] = node;
  return true;
}

void leading_close(struct leading *leading) {
  free(leading->begin), free(leading->from), free(leading->met), free(leading->queue);
}

size_t leading_holders(struct leading *leading, uint32_t node, uint32_t *holders, size_t most) {
  uint32_t last = 0;
  size_t count = 0;
  leading->queue[last++] = node;
  node_set_add(leading->met, node);
  for (uint32_t at = 0; at < last; at++)
    for (uint32_t i = leading->begin[leading->queue[at]]; i < leading->begin[leading->queue[at] + 1]; i++) {
      uint32_t from = leading->from[i];
      if (from == NODE_ALL || node_set_add(leading->met, from)) continue;
      if (from >= leading->graph->first_block)
        leading->queue[last++] = from;
      else if (count++ < most)
        holders[count - 1] = from;
    }
  memset(leading->met, 0, leading->graph->first_block / 8 + 1);
  while (last) leading->met[leading->queue[--last] / 8] = 0;
  return count;
}
/* SPDX-License-Identifier: MIT */
