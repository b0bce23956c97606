/* Sweeping over births and deaths in order of time. */
#include "analysis/timeline.h"

#include "base/error.h"
#include <stdlib.h>

struct step {
  uint64_t time_ns;
  double bytes; /* weighted; negative when a row ends */
};

/* Ends before beginnings at one instant: a resized block is not counted twice. */
static int by_time(const void *a, const void *b) {
  const struct step *left = a, *right = b;
  if (left->time_ns != right->time_ns) return left->time_ns < right->time_ns ? -1 : 1;
  return (left->bytes > right->bytes) - (left->bytes < right->bytes);
}

static bool counts(const struct row *row, row_filter *takes, void *context) {
  return row->probability > 0 && (!takes || takes(row, context));
}

static void add_live(struct sums *sums, const struct row *row) {
  sum_add(&sums->bytes, (double)row->size, row->probability);
  sum_add(&sums->blocks, 1, row->probability);
}

static struct memory_point nothing(void) { return (struct memory_point){0, 0, 0}; }

static uint64_t distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

/* ---- shared ---- */

wn_status timeline_peak(const struct samples *samples, row_filter *takes, void *context,
                        struct moment *peak) {
  struct step *steps = malloc((2 * samples->row_count + 1) * sizeof *steps);
  if (!steps) return error_set(WN_ENOMEM, "not enough memory for the timeline");
  size_t count = 0;
  for (size_t i = 0; i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    if (!counts(row, takes, context)) continue;
    double bytes = (double)row->size / row->probability;
    steps[count++] = (struct step){row->begin_ns, bytes};
    if (row->end_ns != STILL_ALIVE) steps[count++] = (struct step){row->end_ns, -bytes};
  }
  qsort(steps, count, sizeof *steps, by_time);
  double live = 0, most = 0;
  uint64_t at = 0;
  for (size_t i = 0; i < count; i++) {
    live += steps[i].bytes;
    bool last = i + 1 == count || steps[i + 1].time_ns != steps[i].time_ns;
    if (last && live > most) {
      most = live;
      at = steps[i].time_ns;
    }
  }
  free(steps);
  peak->time_ns = at;
  peak->live = timeline_live_at(samples, at, takes, context);
  return WN_OK;
}

struct sums timeline_live_at(const struct samples *samples, uint64_t time_ns, row_filter *takes,
                             void *context) {
  struct sums sums = {0};
  for (size_t i = 0; i < samples->row_count && samples->rows[i].begin_ns <= time_ns; i++)
    if (row_is_live_at(&samples->rows[i], time_ns) && counts(&samples->rows[i], takes, context))
      add_live(&sums, &samples->rows[i]);
  return sums;
}

struct sums timeline_allocated(const struct samples *samples, row_filter *takes, void *context) {
  struct sums sums = {0};
  for (size_t i = 0; i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    if (!counts(row, takes, context)) continue;
    sum_add_dependent(&sums.bytes, (double)row->growth, row->probability, row->growth_variance);
    if (row->birth) sum_add(&sums.blocks, 1, row->probability);
  }
  return sums;
}

size_t timeline_count(const struct samples *samples, row_filter *takes, void *context) {
  size_t count = 0;
  for (size_t i = 0; i < samples->row_count; i++) count += takes(&samples->rows[i], context);
  return count;
}

struct memory_point timeline_peak_memory(const struct samples *samples) {
  struct memory_point most = nothing();
  for (size_t i = 0; i < samples->memory_count; i++)
    if (samples->memory[i].rss_bytes > most.rss_bytes) most = samples->memory[i];
  return most;
}

struct memory_point timeline_memory_at(const struct samples *samples, uint64_t time_ns) {
  struct memory_point nearest = nothing();
  for (size_t i = 0; i < samples->memory_count; i++)
    if (!i || distance(samples->memory[i].time_ns, time_ns) < distance(nearest.time_ns, time_ns))
      nearest = samples->memory[i];
  return nearest;
}
/* SPDX-License-Identifier: MIT */
