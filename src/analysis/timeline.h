/* The heap over time. */
#ifndef ANALYSIS_TIMELINE_H
#define ANALYSIS_TIMELINE_H

#include "analysis/call_tree.h"

/* What the live heap came to at one time. */
struct moment {
  uint64_t time_ns;
  struct sums live;
};

/* Whether a row counts. */
typedef bool row_filter(const struct row *row, void *context);

/* What was live at a time: allocated at or before it, not freed by then. */
struct sums timeline_live_at(const struct samples *samples, uint64_t time_ns, row_filter *takes,
                             void *context);

/* What was live at `count` (2 or more, at most TIMELINE_MOMENTS) moments evenly spread from the
 * start to the last event. */
#define TIMELINE_MOMENTS 256
void timeline_curve(const struct samples *samples, row_filter *takes, void *context, struct moment *moments,
                    size_t count);

/* Everything allocated, and as blocks the calls that did (OWNER in samples.h). */
struct sums timeline_allocated(const struct samples *samples, row_filter *takes, void *context);

/* How many rows `takes` takes. */
size_t timeline_count(const struct samples *samples, row_filter *takes, void *context);

/* The largest resident size that was measured, and when; zeros if none was. */
struct memory_point timeline_peak_memory(const struct samples *samples);

/* The resident size measured nearest to a time; zeros if none was. */
struct memory_point timeline_memory_at(const struct samples *samples, uint64_t time_ns);

/* Writes at most `most` (an even number) of the measurements, in order of time, the largest ones
 * among them. */
size_t timeline_memory_thinned(const struct samples *samples, struct memory_point *points, size_t most);

/* True if the row is live at that time. */
static inline bool row_is_live_at(const struct row *row, uint64_t time_ns) {
  return row->begin_ns <= time_ns && time_ns < row->end_ns;
}

#endif
/* SPDX-License-Identifier: MIT */
