/* A recording, wherever its rows come from. recording_load.c loads one from a trace. */
#include "analysis/recording.h"

#include "analysis/peak.h"
#include <stdlib.h>

void recording_describe(struct recording *recording) {
  const struct trace_damage *damage = source_damage(recording->samples->source);
  double rate = source_run(recording->samples->source)->rate;
  recording->rate = rate;
  recording->byte_unit = rate > 0 && rate < 1 ? recording->samples->word_bytes / rate : 0;
  if (recording->kept <= 0) recording->kept = 1;
  recording->partial = damage->records_lost || damage->chunks_damaged;
  struct peak peak;
  bool found = !peak_find(recording->samples, NULL, NULL, &peak);
  recording->peak_ns = found ? peak.median_ns : recording->samples->end_ns;
}

void recording_free(struct recording *recording) {
  if (!recording) return;
  listing_destroy(&recording->listing);
  wrappers_destroy(&recording->wrappers);
  names_destroy(&recording->names);
  samples_free(recording->samples);
  free(recording);
}
/* SPDX-License-Identifier: MIT */
