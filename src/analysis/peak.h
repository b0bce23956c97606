/* When the heap held the most, and what it held then. */
#ifndef ANALYSIS_PEAK_H
#define ANALYSIS_PEAK_H

#include "analysis/timeline.h"

/* An odd number: peak.c says why. */
enum { PEAK_PARTS = 5 };

/* Each part of the sample has a moment that other parts chose. `live` estimates the mean, over
 * these moments, of what the heap held. Where the heap has one clear summit the moments are one, or
 * lie close together. */
struct peak {
  uint64_t time_ns[PEAK_PARTS];
  uint64_t first_ns, median_ns, last_ns; /* of the moments */
  struct sums live;
};

/* Of the rows that `takes` takes (NULL: all). */
wn_status peak_find(const struct samples *samples, row_filter *takes, void *context, struct peak *peak);

/* What a row counts for in `live`; false: nothing. Sums of such rows are estimates as good as
 * `live` itself. */
bool peak_holds(const struct peak *peak, const struct row *row, struct weight *weight);

#endif
/* SPDX-License-Identifier: MIT */
