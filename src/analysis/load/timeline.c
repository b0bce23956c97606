/* Sums of the rows that are live at given moments, and the measurements of resident memory.
 *
 * The curve is not a sweep that adds births and subtracts deaths: subtraction leaves rounding
 * errors, and the sum of an empty heap must be exactly 0. Instead a segment tree over the moments
 * adds each row to the few nodes that cover its life. The sum at a moment is the sum of the node of
 * that moment and of the nodes above it.
 */
#include "analysis/load/timeline.h"

#include "base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool timeline_counts(const struct row *row, row_filter *selects, void *context) {
  return row->probability > 0 && (!selects || selects(row, context));
}

/* The time of a moment of the curve. The last moment is the end. Computed without overflow. */
static uint64_t timeline_time_of(uint64_t end_ns, size_t moment, size_t count) {
  return end_ns / (count - 1) * moment + end_ns % (count - 1) * moment / (count - 1);
}

/* The moments of a curve. Their times are computed once, since dividing is slow. */
struct grid {
  uint64_t time_ns[TIMELINE_MOMENTS];
  double per_ns; /* moments */
  size_t count;
};

static void make_grid(struct grid *grid, uint64_t end_ns, struct moments_of of) {
  size_t last = of.count - 1;
  grid->per_ns = end_ns ? (double)last / (double)end_ns : 0;
  grid->count = of.count;
  for (size_t i = 0; i < of.count; i++) grid->time_ns[i] = timeline_time_of(end_ns, i, of.count);
  if (of.exact_ns && of.exact_ns < end_ns && last > 1) {
    size_t nearest = (size_t)((double)of.exact_ns * grid->per_ns + 0.5);
    grid->time_ns[nearest < 1 ? 1 : nearest < last ? nearest : last - 1] = of.exact_ns;
  }
}

/* The first moment at or after a time. */
static size_t moment_from(uint64_t time_ns, const struct grid *grid) {
  double guess = (double)time_ns * grid->per_ns;
  size_t at = guess < (double)grid->count ? (size_t)guess : grid->count;
  while (at > 0 && grid->time_ns[at - 1] >= time_ns) at--;
  while (at < grid->count && grid->time_ns[at] < time_ns) at++;
  return at;
}

/* The first moment at which a row has ended. */
static size_t moment_after(const struct span *span, const struct grid *grid) {
  return span->end_ns == STILL_ALIVE ? grid->count : moment_from(span->end_ns, grid);
}

/* Adds a row to the moments [begin, end). The leaves of the segment tree are its nodes from
 * TIMELINE_MOMENTS on. */
static void add_stretch(struct sums *nodes, const struct row *row, size_t begin, size_t end) {
  for (begin += TIMELINE_MOMENTS, end += TIMELINE_MOMENTS; begin < end; begin /= 2, end /= 2) {
    if (begin & 1) timeline_add_live(&nodes[begin++], row);
    if (end & 1) timeline_add_live(&nodes[--end], row);
  }
}

/* The sums at each moment of the grid: those of its leaf and of the nodes above. */
static void sum_moments(const struct sums *nodes, const struct grid *grid, struct moment *moments) {
  for (size_t i = 0; i < grid->count; i++) {
    moments[i] = (struct moment){.time_ns = grid->time_ns[i]};
    for (size_t node = TIMELINE_MOMENTS + i; node; node /= 2) sums_merge(&moments[i].live, &nodes[node]);
  }
}

/* A row whose life has moments of the grid, in the lists of the rows that begin and that end at one. */
struct event {
  uint32_t key, next_begin, next_end; /* places of events plus 1; 0: none */
  double bytes;
};

struct events {
  struct event *all;
  size_t count;
  uint32_t begin[TIMELINE_MOMENTS + 1], end[TIMELINE_MOMENTS + 1]; /* by moment, the first of its list */
};

static void timeline_add_event(struct events *events, uint32_t key, double bytes, size_t begin, size_t end) {
  events->all[events->count++] = (struct event){key, events->begin[begin], events->end[end], bytes};
  events->begin[begin] = events->end[end] = (uint32_t)events->count;
}

/* At each moment the rows that have ended leave before those that begin come: what remains is live. */
static void walk_events(const struct events *events, size_t count, double *now, double *most) {
  for (size_t i = 0; i < count; i++) {
    for (uint32_t at = events->end[i]; at; at = events->all[at - 1].next_end)
      now[events->all[at - 1].key] -= events->all[at - 1].bytes;
    for (uint32_t at = events->begin[i]; at; at = events->all[at - 1].next_begin)
      now[events->all[at - 1].key] += events->all[at - 1].bytes;
    for (uint32_t at = events->begin[i]; at; at = events->all[at - 1].next_begin) {
      uint32_t key = events->all[at - 1].key;
      if (now[key] > most[key]) most[key] = now[key];
    }
  }
}

/* Adds a row's bytes to the moment at which an area has them, and selects them from the moment at
 * which it has them no more; the moments behind are summed later. */
static void add_change(struct flow *flow, size_t begin, size_t end, size_t count, enum area area,
                       double bytes) {
  if (begin >= end) return;
  for (int i = 0; i < 2; i++, begin = end, bytes = -bytes) {
    if (begin >= count) return;
    if (area == AREA_MINOR) flow[begin].minor += bytes;
    if (area == AREA_MAJOR) flow[begin].major += bytes;
    if (area == AREA_OUTSIDE) flow[begin].outside += bytes;
  }
}

/* Rounding leaves a little of bytes that were added and taken. */
static double without_rounding(double sum, double most) { return sum > 1e-9 * most ? sum : 0; }

static void sum_changes(struct flow *flow, size_t count) {
  struct flow sum = {0}, most = {0};
  for (size_t i = 0; i < count; i++) {
    sum.minor += flow[i].minor, sum.major += flow[i].major, sum.outside += flow[i].outside;
    most.minor = fmax(most.minor, sum.minor), most.major = fmax(most.major, sum.major);
    most.outside = fmax(most.outside, sum.outside);
    flow[i].minor = without_rounding(sum.minor, most.minor);
    flow[i].major = without_rounding(sum.major, most.major);
    flow[i].outside = without_rounding(sum.outside, most.outside);
  }
}

/* Of consecutive measurements, keeps the one with the largest resident size and the one with the
 * most private memory, in order of time. Returns 1 if these are the same measurement, otherwise 2.
 */
static size_t timeline_keep_largest(const struct memory_point *from, size_t count,
                                    struct memory_point *points) {
  size_t rss = 0, private = 0;
  for (size_t i = 1; i < count; i++) {
    if (from[i].rss_bytes > from[rss].rss_bytes) rss = i;
    if (from[i].private_bytes > from[private].private_bytes) private = i;
  }
  points[0] = from[rss < private ? rss : private];
  if (rss == private) return 1;
  points[1] = from[rss < private ? private : rss];
  return 2;
}

/* ---- shared ---- */

struct sums timeline_live_at(const struct samples *samples, uint64_t time_ns, row_filter *selects,
                             void *context) {
  struct sums sums = {0};
  const struct span *spans = samples->spans;
  for (size_t i = 0; i < samples->row_count; i++) {
    if (spans && !span_has(&spans[i], time_ns)) continue;
    const struct row *row = &samples->rows[i];
    if (row_is_live_at(row, time_ns) && timeline_counts(row, selects, context)) timeline_add_live(&sums, row);
  }
  return sums;
}

void timeline_curve(const struct samples *samples, row_filter *selects, void *context, struct moment *moments,
                    struct moments_of of) {
  struct sums nodes[2 * TIMELINE_MOMENTS] = {0};
  struct grid grid;
  make_grid(&grid, samples->end_ns, of);
  for (size_t i = 0; i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    struct span span = row_span(samples, row);
    size_t begin = moment_from(span.begin_ns, &grid), end = moment_after(&span, &grid);
    if (begin < end && timeline_counts(row, selects, context)) add_stretch(nodes, row, begin, end);
  }
  sum_moments(nodes, &grid, moments);
}

bool timeline_curves(const struct samples *samples, row_key *key_of, void *context, struct moment *moments,
                     struct moments_of of, size_t keys) {
  struct sums(*nodes)[2 * TIMELINE_MOMENTS] = calloc(keys + 1, sizeof *nodes);
  struct grid grid;
  make_grid(&grid, samples->end_ns, of);
  for (size_t i = 0; nodes && i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    uint32_t key = timeline_counts(row, NULL, NULL) ? key_of(row, context) : NO_KEY;
    if (key == NO_KEY) continue;
    struct span span = row_span(samples, row);
    add_stretch(nodes[key], row, moment_from(span.begin_ns, &grid), moment_after(&span, &grid));
  }
  for (size_t key = 0; nodes && key < keys; key++) sum_moments(nodes[key], &grid, moments + key * of.count);
  bool done = nodes;
  free(nodes);
  return done;
}

bool timeline_most(const struct samples *samples, row_key *key_of, void *context, double *most,
                   struct moments_of of, size_t keys) {
  struct events events = {.all = array_new(samples->row_count, sizeof *events.all)};
  double *now = calloc(keys + 1, sizeof *now);
  bool done = events.all && now;
  struct grid grid;
  make_grid(&grid, samples->end_ns, of);
  for (size_t key = 0; key < keys; key++) most[key] = 0;
  for (size_t i = 0; done && i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    uint32_t key = timeline_counts(row, NULL, NULL) ? key_of(row, context) : NO_KEY;
    if (key == NO_KEY) continue;
    struct span span = row_span(samples, row);
    size_t begin = moment_from(span.begin_ns, &grid), end = moment_after(&span, &grid);
    if (begin < end) timeline_add_event(&events, key, (double)row->size / row->probability, begin, end);
  }
  if (done) walk_events(&events, of.count, now, most);
  free(events.all);
  free(now);
  return done;
}

void timeline_flow(const struct samples *samples, row_filter *selects, void *context, struct flow *flow,
                   struct moments_of of) {
  struct grid grid;
  make_grid(&grid, samples->end_ns, of);
  memset(flow, 0, of.count * sizeof *flow);
  for (size_t i = 0; i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    if (!timeline_counts(row, selects, context)) continue;
    struct span span = row_span(samples, row);
    size_t begin = moment_from(span.begin_ns, &grid), end = moment_after(&span, &grid), move = end;
    double bytes = (double)row->size / row->probability;
    if (begin < of.count) flow[begin].allocated += (double)row_allocated(row) / row->probability;
    if (row->promoted_ns < row->end_ns && row->area == AREA_MINOR) {
      move = moment_from(row->promoted_ns, &grid);
      if (move < begin) move = begin;
      add_change(flow, move, end, of.count, AREA_MAJOR, bytes);
    }
    add_change(flow, begin, move, of.count, (enum area)row->area, bytes);
  }
  sum_changes(flow, of.count);
}

size_t timeline_memory_thinned(const struct samples *samples, struct memory_point *points, size_t most) {
  size_t total = samples->memory_count, kept = 0, stretches = most / 2;
  for (size_t i = 0; i < total && total <= most; i++) points[kept++] = samples->memory[i];
  for (size_t i = 0; i < stretches && total > most; i++) {
    size_t begin = total * i / stretches, end = total * (i + 1) / stretches;
    kept += timeline_keep_largest(samples->memory + begin, end - begin, points + kept);
  }
  return kept;
}

struct sums timeline_allocated(const struct samples *samples, row_filter *selects, void *context) {
  struct sums sums = {0};
  for (size_t i = 0; i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    if (timeline_counts(row, selects, context)) timeline_add_call(&sums, samples, row);
  }
  return sums;
}

void timeline_add_live(struct sums *sums, const struct row *row) {
  sum_add(&sums->bytes, (double)row->size, row->probability);
  sum_add(&sums->blocks, 1, row->probability);
}

void timeline_add_call(struct sums *sums, const struct samples *samples, const struct row *row) {
  const struct grown *grown = grown_at(&samples->grown, row->grown);
  if (!row->call) return;
  if (!grown) {
    timeline_add_live(sums, row);
    return;
  }
  struct dependence bytes = grown_bytes(grown), calls = grown_calls(grown);
  sum_add_dependent(&sums->bytes, (double)row->size, row->probability, &bytes);
  sum_add_dependent(&sums->blocks, 1, row->probability, &calls);
}
/* SPDX-License-Identifier: MIT */
