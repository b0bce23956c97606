/* A recording, wherever its rows come from. recording_load.c loads one from a trace. */
#include "analysis/recording.h"

#include "analysis/peak.h"
#include "analysis/timeline.h"
#include "sources/totals.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Marks a node and its callers. */
static void use(const struct samples *samples, bool *used, uint32_t nodes, uint32_t node) {
  while (node && node <= nodes && !used[node]) {
    used[node] = true;
    node = source_stack(samples->source, node).parent;
  }
}

/* Of the nodes of rows alone, so that a container, which has no others, has the same names. Without
 * memory no name is shared. */
static void find_shared_names(struct recording *recording) {
  const struct samples *samples = recording->samples;
  uint32_t nodes = source_stack_count(samples->source);
  bool *used = calloc((size_t)nodes + 1, sizeof *used);
  if (!used) return;
  for (size_t i = 0; i < samples->row_count; i++) use(samples, used, nodes, samples->rows[i].stack);
  for (size_t i = 0; i < samples->mapped.count; i++) use(samples, used, nodes, samples->mapped.rows[i].stack);
  names_find_shared(&recording->names, used, nodes);
  free(used);
}

/* ---- CLOSING ---- */

enum { CLOSING_PART = 5, CURVE = 512 };
static const double KEPT_MOST = 0.5, NEARLY = 0.95;

static bool has_exited(const struct recording *recording) {
  const struct samples *samples = recording->samples;
  return !recording->partial && !samples->collected && samples->process_count < 2 && samples->ended &&
         samples->end.kind == TRACE_END_EXIT;
}

static uint64_t find_closing(const struct recording *recording) {
  const struct samples *samples = recording->samples;
  struct moment moments[CURVE];
  size_t first = CURVE - CURVE / CLOSING_PART, last = CURVE - 1;
  double most = 0;
  if (!has_exited(recording)) return samples->end_ns;
  timeline_curve(samples, NULL, NULL, moments, CURVE);
  for (size_t i = first; i < CURVE; i++) most = fmax(most, moments[i].live.bytes.total);
  if (moments[last].live.bytes.total >= KEPT_MOST * most) return samples->end_ns;
  if (recording->peak_ns >= moments[first].time_ns) return recording->peak_ns;
  while (moments[last].live.bytes.total < NEARLY * most) last--;
  return moments[last].time_ns;
}

void recording_describe(struct recording *recording) {
  const struct trace_damage *damage = source_damage(recording->samples->source);
  double rate = source_run(recording->samples->source)->rate;
  recording->rate = rate;
  recording->byte_unit = rate > 1               ? EXACT_UNIT
                         : rate > 0 && rate < 1 ? recording->samples->word_bytes / rate
                                                : 0;
  if (recording->kept <= 0) recording->kept = 1;
  recording->partial = damage->records_lost || damage->chunks_damaged;
  struct peak peak;
  bool found = !peak_find(recording->samples, NULL, NULL, &peak);
  find_shared_names(recording);
  recording->peak_ns = found ? peak.median_ns : recording->samples->end_ns;
  const struct source_limits *limits = source_limits(recording->samples->source);
  if (limits->totals) recording->peak_ns = limits->no_peak ? TOTALS_END : TOTALS_PEAK;
  recording->without_ranges = recording->partial || limits->estimated;
  recording->closing_ns = find_closing(recording);
}

bool recording_is_same(const struct recording *one, const struct recording *other) {
  const struct trace_run *run = source_run(one->samples->source), *too = source_run(other->samples->source);
  return run->wall_ns && run->wall_ns == too->wall_ns && run->monotonic_ns == too->monotonic_ns &&
         run->pid == too->pid && run->seed == too->seed && run->host.length == too->host.length &&
         !memcmp(run->host.bytes, too->host.bytes, run->host.length) &&
         one->samples->end_ns == other->samples->end_ns;
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
