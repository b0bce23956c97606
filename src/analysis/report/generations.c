/* Sums rows by what became of their blocks. */
#include "analysis/report/generations.h"

/* The blocks of a collected heap never change their size, so each has one row. */
void generations_add(struct generations *generations, const struct row *row) {
  if (!row->first || row->probability <= 0) return;
  if (row->source == TRACE_SOURCE_EXTERNAL) timeline_add_live(&generations->external, row);
  switch (row->area) {
  case AREA_MINOR: timeline_add_live(&generations->minor, row); break;
  case AREA_MAJOR: timeline_add_live(&generations->major, row); return;
  case AREA_OUTSIDE: timeline_add_live(&generations->outside, row); return;
  default: return;
  }
  if (row->promoted_ns == NEVER) return;
  timeline_add_live(&generations->promoted, row);
  if (row->next_cycle == NEXT_CYCLE_UNKNOWN) return;
  timeline_add_live(&generations->resolved, row);
  if (row->next_cycle == NEXT_CYCLE_DEAD) timeline_add_live(&generations->dead, row);
}

struct sums generations_births(const struct generations *generations) {
  struct sums births = generations->minor;
  sums_merge(&births, &generations->major);
  sums_merge(&births, &generations->outside);
  return births;
}

struct generations generations_of_group(const struct samples *samples, const struct call_tree *tree,
                                        const struct group *group, enum extent extent, bool *inside) {
  struct generations generations = {0};
  call_tree_mark(tree, group, extent, inside);
  for (size_t i = 0; i < samples->row_count; i++)
    if (tree->node_of_row[i] != NO_NODE && inside[tree->node_of_row[i]])
      generations_add(&generations, &samples->rows[i]);
  return generations;
}
/* SPDX-License-Identifier: MIT */
