/* Compares the runs of heap snapshots. */
#include "analysis/compare/doubts.h"

#include <string.h>

static const struct doubt other_program = {"OTHER PROGRAM", "the snapshots are of different commands"},
                          other_process = {"OTHER PROCESS", "the snapshots are of different runs"},
                          wrong_order = {"WRONG ORDER", "a snapshot is earlier than the one before it"};

static bool doubts_is_same(struct trace_text one, struct trace_text other) {
  return one.length == other.length && (!one.length || !memcmp(one.bytes, other.bytes, one.length));
}

/* ---- shared ---- */

size_t doubts_of_runs(const struct trace_run *runs, size_t count, const struct doubt *found[DOUBTS_MOST]) {
  bool command = false, process = false, order = false;
  size_t doubts = 0;
  for (size_t i = 1; i < count; i++) {
    command |= !doubts_is_same(runs[0].command, runs[i].command);
    process |= runs[0].pid != runs[i].pid;
    order |= runs[i].wall_ns < runs[i - 1].wall_ns;
  }
  if (command || process) found[doubts++] = command ? &other_program : &other_process;
  if (order) found[doubts++] = &wrong_order;
  return doubts;
}

size_t doubts_of_recordings(const struct recording *before, const struct recording *after,
                            const struct doubt *found[DOUBTS_MOST]) {
  const struct source *one = before->samples->source, *other = after->samples->source;
  if (!source_limits(one)->no_callers || !source_limits(other)->no_callers) return 0;
  return doubts_of_runs((struct trace_run[]){*source_run(one), *source_run(other)}, 2, found);
}
/* SPDX-License-Identifier: MIT */
