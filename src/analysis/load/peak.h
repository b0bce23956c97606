/* The time at which the heap held the most, and an unbiased estimate of what it held then. */
#pragma once

#include "analysis/load/timeline.h"

/* An odd number: peak.c says why. */
enum { PEAK_PARTS = 5 };

/* Each part of the sample has a moment that other parts chose. `live` estimates the mean, over
 * these moments, of what the heap held. Where the heap has one clear summit, the moments are the
 * same or close together. */
struct peak {
  uint64_t time_ns[PEAK_PARTS];
  uint64_t first_ns, median_ns, last_ns; /* the earliest, the median and the latest of time_ns */
  struct sums live;
};

/* Finds the peak of the rows that `selects` selects (NULL: all). WN_ENOMEM. */
wn_status peak_find(const struct samples *samples, row_filter *selects, void *context, struct peak *peak);

/* The same in steps, for a caller that does other work in the same pass over the rows: peak_begin,
 * then peak_add for each row in order, then peak_end, which frees the finder. */
struct peak_finder {
  const struct samples *samples;
  double *bytes; /* by row: what it weighs where it chooses moments */
  int8_t *part;  /* by row: the part of the sample that it is in, or a mark below 0 (peak.c) */
  bool exact;    /* every block that counts is in the sample */
};
wn_status peak_begin(const struct samples *samples, struct peak_finder *finder);
void peak_add(struct peak_finder *finder, const struct row *row, bool counts);
wn_status peak_end(struct peak_finder *finder, struct peak *peak);

/* False: a row of this time does not count in `live`. */
static inline bool peak_is_near(const struct peak *peak, const struct span *span) {
  return span->begin_ns <= peak->last_ns && peak->first_ns < span->end_ns;
}

/* How a row counts in `live`; false: not at all. A sum of rows with these weights, such as that of
 * one function, is as good an estimate as `live` itself. */
bool peak_holds(const struct peak *peak, const struct row *row, struct weight *weight);
/* SPDX-License-Identifier: MIT */
