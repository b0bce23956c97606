/* Sums rows by what became of their blocks. */
#include "analysis/report/generations.h"

static void add_to(struct sums *sums, const struct row *row) {
  sum_add(&sums->bytes, (double)row->size, row->probability);
  sum_add(&sums->blocks, 1, row->probability);
}

/* ---- shared ---- */

/* The blocks of a collected heap never change their size, so each has one row. */
void generations_add(struct generations *generations, const struct row *row) {
  if (!row->first || row->probability <= 0) return;
  if (row->source == TRACE_SOURCE_EXTERNAL) add_to(&generations->external, row);
  switch (row->area) {
  case AREA_MINOR: add_to(&generations->minor, row); break;
  case AREA_MAJOR: add_to(&generations->major, row); return;
  case AREA_OUTSIDE: add_to(&generations->outside, row); return;
  default: return;
  }
  if (row->promoted_ns == NEVER) return;
  add_to(&generations->promoted, row);
  if (row->next_cycle == NEXT_CYCLE_UNKNOWN) return;
  add_to(&generations->resolved, row);
  if (row->next_cycle == NEXT_CYCLE_DEAD) add_to(&generations->dead, row);
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
