/* Metrics of a heap: a public listener (listen.h) that counts, and what it has counted at a moment
 * in which the world is stopped. */
#ifndef GC_API_METRICS_H
#define GC_API_METRICS_H

#include "gc/api/histogram.h"
#include <stdio.h>
#include <winnow/events.h>
#include <winnow/gc.h>

struct wn_heap;

/* Pauses have the causes from PAUSE_CAUSE_FIRST on, stops those from STOP_CAUSE_FIRST on. */
enum {
  PAUSE_CAUSE_FIRST = WN_GC_CAUSE_COLLECTION,
  STOP_CAUSE_FIRST = WN_GC_CAUSE_MINOR_HEAP,
  PAUSE_CAUSES = STOP_CAUSE_FIRST - PAUSE_CAUSE_FIRST,
  STOP_CAUSES = WN_GC_CAUSE_LISTENERS + 1 - STOP_CAUSE_FIRST
};

struct metrics_counts {
  struct histogram pauses[PAUSE_CAUSES], stops[STOP_CAUSES]; /* for each cause */
  struct histogram delays; /* from the begin of a stop until all stand still */
  struct histogram minors, cycles;
};

/* All that is written, of one moment. */
struct metrics_moment {
  struct metrics_counts counts;
  wn_gc_stat stat; /* of wn_gc_quick_stat */
  size_t mapped_bytes;
  unsigned domains;
};

/* Writes the text. */
void metrics_write(const struct metrics_moment *moment, FILE *out);

/* Ends the counting in a heap that is being closed. No domain is left. */
void metrics_close(struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
