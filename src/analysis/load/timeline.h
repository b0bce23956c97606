/* The heap and the resident memory over time, summed from the rows and measurements of a trace. In
 * all functions `selects` selects the rows that count; NULL, where a function allows it, selects
 * all. */
#pragma once

#include "analysis/load/call_tree.h"

/* The sums of the live heap at one time. */
struct moment {
  uint64_t time_ns;
  struct sums live;
};

/* Whether a row counts. */
typedef bool row_filter(const struct row *row, void *context);

/* The sums of the rows that are live at a time. `selects` may be NULL. */
struct sums timeline_live_at(const struct samples *samples, uint64_t time_ns, row_filter *selects,
                             void *context);

/* The moments of a curve: `count`, from 2 to TIMELINE_MOMENTS, spread evenly from the start of the
 * trace to the last event. If one is to be exact, such as that of a peak that lasts for less than a
 * step, the nearest of those between the first and the last moves there. */
enum { TIMELINE_MOMENTS = 1024 };
struct moments_of {
  size_t count;
  uint64_t exact_ns; /* 0: none */
};

/* The sums of the live rows at these moments. `selects` may be NULL. */
void timeline_curve(const struct samples *samples, row_filter *selects, void *context, struct moment *moments,
                    struct moments_of of);

/* The key of a row; NO_KEY: it does not count. */
#define NO_KEY UINT32_MAX
typedef uint32_t row_key(const struct row *row, void *context);

/* The curve of the rows of each key: moments[key * count + i], for the keys below `keys`. False without
 * memory. */
bool timeline_curves(const struct samples *samples, row_key *key_of, void *context, struct moment *moments,
                     struct moments_of of, size_t keys);

/* The most that the rows of each key held at one of the moments: most[key], in estimated bytes.
 * False without memory. */
bool timeline_most(const struct samples *samples, row_key *key_of, void *context, double *most,
                   struct moments_of of, size_t keys);

/* What a collected heap held by area, and what was allocated since the moment before, at the moments
 * of timeline_curve: estimates without intervals. A promoted block is in `major` from then on. For
 * malloc only `allocated` is not 0. */
struct flow {
  double minor, major, outside, allocated;
};
void timeline_flow(const struct samples *samples, row_filter *selects, void *context, struct flow *flow,
                   struct moments_of of);

/* The bytes of all allocations; `blocks` counts the calls that allocated (OWNER in samples.h).
 * `selects` may be NULL. */
struct sums timeline_allocated(const struct samples *samples, row_filter *selects, void *context);

/* Add a row to such sums: that of the live rows, and that of allocations, if the row is a call. */
void timeline_add_live(struct sums *sums, const struct row *row);
void timeline_add_call(struct sums *sums, const struct samples *samples, const struct row *row);

/* Writes at most `most` (an even number) measurements to `points`, in order of time and including
 * the largest ones. Returns their number. */
size_t timeline_memory_thinned(const struct samples *samples, struct memory_point *points, size_t most);

/* Whether the row is live at a time: the row began at or before that time, and ended after that
 * time. */
static inline bool row_is_live_at(const struct row *row, uint64_t time_ns) {
  return row->begin_ns <= time_ns && time_ns < row->end_ns;
}
/* SPDX-License-Identifier: MIT */
