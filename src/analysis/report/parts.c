/* Splits the total of a group: ACCOUNT. Parents stand before their children in a tree, so one pass
 * over the nodes finds for each the part to which the stacks belong that end there. */
#include "analysis/report/parts.h"

#include "base/check.h"
#include "base/error.h"
#include <stdlib.h>

/* The part of a node that is not below the group. */
#define OUTSIDE UINT32_MAX

static uint32_t caller_part(const struct call_tree *tree, uint32_t label, uint32_t node,
                            const uint32_t *part) {
  const struct tree_node *of = &tree->nodes[node];
  if (part[of->parent] != OUTSIDE || of->label != label) return part[of->parent];
  return tree->nodes[of->parent].label;
}

static uint32_t callee_part(const struct call_tree *tree, uint32_t label, uint32_t node,
                            const uint32_t *part) {
  const struct tree_node *of = &tree->nodes[node];
  return of->label == label || part[of->parent] == label ? of->label : part[of->parent];
}

typedef uint32_t part_of_node(const struct call_tree *tree, uint32_t label, uint32_t node,
                              const uint32_t *part);

static wn_status parts_split(const struct call_tree *tree, uint32_t label, part_of_node *part_of,
                             struct parts *parts) {
  uint32_t *part = malloc(tree->node_count * sizeof *part);
  struct sum *sums = calloc(tree->label_count, sizeof *sums);
  *parts = (struct parts){.count = 0};
  for (uint32_t node = 0; part && sums && node < tree->node_count; node++) {
    part[node] = node ? part_of(tree, label, node, part) : OUTSIDE;
    if (part[node] != OUTSIDE) sum_merge(&sums[part[node]], &tree->nodes[node].self.bytes);
  }
  for (uint32_t i = 0; part && sums && i < tree->label_count; i++)
    if (sums[i].samples || sums[i].total > 0) parts_add(parts, PARTS_MOST, &(struct part){i, sums[i]});
  bool done = part && sums;
  free(part);
  free(sums);
  return done ? WN_OK : error_set(WN_ENOMEM, "not enough memory for the details");
}

/* ---- shared ---- */

void parts_add(struct parts *parts, size_t most, const struct part *part) {
  ASSERT(most <= PARTS_MOST);
  size_t at = parts->count;
  while (at && part->bytes.total > parts->part[at - 1].bytes.total) at--;
  if (parts->count < most)
    parts->count++;
  else
    parts->more++;
  for (size_t i = parts->count; i-- > at + 1;) parts->part[i] = parts->part[i - 1];
  if (at < parts->count) parts->part[at] = *part;
}

wn_status parts_callers(const struct call_tree *tree, uint32_t label, struct parts *parts) {
  return parts_split(tree, label, caller_part, parts);
}

wn_status parts_callees(const struct call_tree *tree, uint32_t label, struct parts *parts) {
  return parts_split(tree, label, callee_part, parts);
}
/* SPDX-License-Identifier: MIT */
