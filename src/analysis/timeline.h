/* The heap over time. */
#ifndef ANALYSIS_TIMELINE_H
#define ANALYSIS_TIMELINE_H

#include "analysis/call_tree.h"

/* What the live heap came to at one time. */
struct moment {
  uint64_t time_ns;
  struct sums live;
};

/* The moment at which the estimate of live bytes was highest, of the rows that `takes` takes (NULL: all). */
typedef bool row_filter(const struct row *row, void *context);
wn_status timeline_peak(const struct samples *samples, row_filter *takes, void *context, struct moment *peak);

/* What was live at a time: allocated at or before it, not freed by then. */
struct sums timeline_live_at(const struct samples *samples, uint64_t time_ns, row_filter *takes,
                             void *context);

/* What was live at `count` (2 or more, at most TIMELINE_MOMENTS) moments evenly spread from the start to the last event. */
#define TIMELINE_MOMENTS 256
void timeline_curve(const struct samples *samples, row_filter *takes, void *context, struct moment *moments,
                    size_t count);

/* How often the heap was renewed, its blocks replaced by others, between moments that may all be the true peak: that held
 * `low` bytes or more. At most RENEWALS_MOST are counted. 0 or 1: the peak is a summit, or its blocks stay. From
 * RENEWALS_MANY on the heap was level, so that the largest of many estimates was taken, and it is too high: docs/sampling.md,
 * tests/analysis/test_peak.c. */
enum { RENEWALS_MANY = 3, RENEWALS_MOST = 4 };
int timeline_renewals(const struct samples *samples, row_filter *takes, void *context, double low);

/* Everything allocated, the growth of blocks included. */
struct sums timeline_allocated(const struct samples *samples, row_filter *takes, void *context);

/* How many rows `takes` takes. */
size_t timeline_count(const struct samples *samples, row_filter *takes, void *context);

/* The largest resident size that was measured, and when; zeros if none was. */
struct memory_point timeline_peak_memory(const struct samples *samples);

/* The resident size measured nearest to a time; zeros if none was. */
struct memory_point timeline_memory_at(const struct samples *samples, uint64_t time_ns);

/* Writes at most `most` (an even number) of the measurements, in order of time, the largest ones among them. */
size_t timeline_memory_thinned(const struct samples *samples, struct memory_point *points, size_t most);

/* True if the row is live at that time. */
static inline bool row_is_live_at(const struct row *row, uint64_t time_ns) {
  return row->begin_ns <= time_ns && time_ns < row->end_ns;
}

#endif
/* SPDX-License-Identifier: MIT */
