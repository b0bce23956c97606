/* Weighs the places of a recording. */
#include "analysis/load/listing_places.h"

#include <stdlib.h>

/* How many bytes a row stands for, and for how long. */
struct amounts {
  double allocated, held;
};

static struct amounts amounts_of(const struct samples *samples, const struct row *row) {
  uint64_t end = row->end_ns == STILL_ALIVE ? samples->end_ns : row->end_ns;
  double life = end > row->begin_ns ? (double)(end - row->begin_ns) : 0;
  return (struct amounts){(double)row_allocated(row) / row->probability,
                          (double)row->size / row->probability * life};
}

/* The weight of each node, with that of its callees. NULL: not enough memory. */
static double *weigh_nodes(const struct samples *samples, uint32_t nodes) {
  double *weights = calloc((size_t)nodes + 1, sizeof *weights);
  struct amounts all = {0, 0};
  if (!weights) return NULL;
  for (size_t i = 0; i < samples->row_count; i++) {
    struct amounts amounts = amounts_of(samples, &samples->rows[i]);
    all.allocated += amounts.allocated;
    all.held += amounts.held;
  }
  for (size_t i = 0; i < samples->row_count; i++) {
    struct amounts amounts = amounts_of(samples, &samples->rows[i]);
    if (all.allocated > 0) weights[samples->rows[i].stack] += amounts.allocated / all.allocated;
    if (all.held > 0) weights[samples->rows[i].stack] += amounts.held / all.held;
  }
  for (uint32_t node = nodes; node; node--) /* callers have smaller numbers */
    weights[source_stack(samples->source, node).parent] += weights[node];
  return weights;
}

static size_t listing_places_gather(const struct recording *recording, const double *weights, uint32_t nodes,
                                    struct place *places) {
  size_t count = 0;
  for (uint32_t node = 1; node <= nodes; node++) {
    struct frames frames = names_of(&recording->names, node);
    for (size_t i = 0; i < frames.count && weights[node] > 0; i++)
      if (frames.frame[i].file && frames.frame[i].line && !frames.frame[i].between)
        places[count++] =
            (struct place){frames.frame[i].file, frames.frame[i].line,
                           source_stack(recording->samples->source, node).module, weights[node]};
  }
  return count;
}

static int by_place(const void *left, const void *right) {
  const struct place *a = left, *b = right;
  if (a->file != b->file) return a->file < b->file ? -1 : 1;
  if (a->line != b->line) return a->line < b->line ? -1 : 1;
  return (a->module > b->module) - (a->module < b->module);
}

static int by_weight(const void *left, const void *right) {
  const struct place *a = left, *b = right;
  if (a->weight != b->weight) return a->weight > b->weight ? -1 : 1;
  return by_place(left, right);
}

/* Joins equal places, which stand together. Returns how many are left. */
static size_t listing_places_join(struct place *places, size_t count) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    struct place *last = kept ? &places[kept - 1] : NULL;
    if (last && last->file == places[i].file && last->line == places[i].line)
      last->weight += places[i].weight;
    else
      places[kept++] = places[i];
  }
  return kept;
}

/* ---- shared ---- */

struct place *listing_places(const struct recording *recording, size_t *count) {
  uint32_t nodes = source_stack_count(recording->samples->source);
  size_t frames = 0;
  for (uint32_t node = 1; node <= nodes; node++) frames += names_of(&recording->names, node).count;
  struct place *places = malloc((frames + 1) * sizeof *places);
  double *weights = places ? weigh_nodes(recording->samples, nodes) : NULL;
  if (!weights) return free(places), NULL;
  *count = listing_places_gather(recording, weights, nodes, places);
  free(weights);
  qsort(places, *count, sizeof *places, by_place);
  *count = listing_places_join(places, *count);
  qsort(places, *count, sizeof *places, by_weight);
  return places;
}
/* SPDX-License-Identifier: MIT */
