/* Median lives.
 *
 * A block that is alive when the trace ends has lived at least so long: its life is censored on the right. The share S of
 * blocks that live longer than t is estimated by Kaplan and Meier ("Nonparametric estimation from incomplete observations",
 * 1958), each block weighted by the inverse of its probability of being in the sample: at each death S is multiplied by
 * 1 - d/r, where d is the weight that dies and r the weight of the blocks that lived until then. The median is the life at
 * which S reaches one half. A block that realloc changed counts once, by its last row.
 */
#include "analysis/lifetimes.h"

#include "base/error.h"
#include <stdlib.h>

static uint64_t life_of(const struct samples *samples, const struct row *row) {
  uint64_t died = row->died_ns == STILL_ALIVE ? samples->end_ns : row->died_ns;
  return died > row->born_ns ? died - row->born_ns : 0;
}

/* Deaths before those that merely were not seen to die. */
static int by_life(const void *a, const void *b, void *context) {
  const struct samples *samples = context;
  const struct row *left = &samples->rows[*(const uint32_t *)a],
                   *right = &samples->rows[*(const uint32_t *)b];
  uint64_t x = life_of(samples, left), y = life_of(samples, right);
  if (x != y) return x < y ? -1 : 1;
  return (left->died_ns == STILL_ALIVE) - (right->died_ns == STILL_ALIVE);
}

/* Marks the nodes that a group's total counts. Parents stand before their children. */
static void mark(struct lifetimes *lifetimes, const struct group *group) {
  const struct call_tree *tree = lifetimes->tree;
  for (uint32_t node = 0; node < tree->node_count; node++)
    lifetimes->inside[node] = tree->grouping == BY_STACK
                                  ? node == group->label
                                  : node && (tree->nodes[node].label == group->label ||
                                             lifetimes->inside[tree->nodes[node].parent]);
}

static bool is_inside(const struct lifetimes *lifetimes, uint32_t row) {
  return lifetimes->inside[lifetimes->tree->node_of_row[row]];
}

/* ---- shared ---- */

wn_status lifetimes_create(const struct samples *samples, const struct call_tree *tree,
                           struct lifetimes *lifetimes) {
  *lifetimes = (struct lifetimes){.samples = samples, .tree = tree};
  lifetimes->order = malloc((samples->row_count + 1) * sizeof *lifetimes->order);
  lifetimes->inside = calloc(tree->node_count, sizeof *lifetimes->inside);
  if (!lifetimes->order || !lifetimes->inside) {
    lifetimes_destroy(lifetimes);
    return error_set(WN_ENOMEM, "not enough memory for the lifetimes");
  }
  for (size_t i = 0; i < samples->row_count; i++)
    if (samples->rows[i].last && tree->node_of_row[i] != NO_NODE)
      lifetimes->order[lifetimes->count++] = (uint32_t)i;
  qsort_r(lifetimes->order, lifetimes->count, sizeof *lifetimes->order, by_life, (void *)samples);
  return WN_OK;
}

void lifetimes_destroy(struct lifetimes *lifetimes) {
  free(lifetimes->order);
  free(lifetimes->inside);
  *lifetimes = (struct lifetimes){0};
}

bool lifetimes_median(struct lifetimes *lifetimes, const struct group *group, uint64_t *ns) {
  const struct row *rows = lifetimes->samples->rows;
  double living = 0, surviving = 1;
  mark(lifetimes, group);
  for (size_t i = 0; i < lifetimes->count; i++)
    if (is_inside(lifetimes, lifetimes->order[i])) living += 1 / rows[lifetimes->order[i]].probability;
  *ns = 0;
  for (size_t i = 0; i < lifetimes->count; i++) {
    const struct row *row = &rows[lifetimes->order[i]];
    if (!is_inside(lifetimes, lifetimes->order[i])) continue;
    double weight = 1 / row->probability;
    *ns = life_of(lifetimes->samples, row);
    if (row->died_ns != STILL_ALIVE) surviving *= 1 - weight / living;
    living -= weight;
    if (surviving <= 0.5 + 1e-9) return true; /* a little more, for rounding */
  }
  return false;
}
/* SPDX-License-Identifier: MIT */
