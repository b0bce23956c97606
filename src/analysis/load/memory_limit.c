/* Sums up the records of control groups. */
#include "analysis/load/memory_limit.h"

/* ---- shared ---- */

struct memory_limit memory_limit_of(const struct samples *samples) {
  if (!samples->group_count) return (struct memory_limit){.limit = 0};
  const struct trace_group *first = samples->groups, *last = first + samples->group_count - 1;
  for (const struct trace_group *group = first; samples->process_count > 1 && group < last; group++)
    if (group->limit != last->limit) return (struct memory_limit){.limit = 0};
  return (struct memory_limit){
      .limit = last->limit,
      .high = last->high,
      .kills = last->kills > first->kills ? last->kills - first->kills : 0,
      .pressure_us = last->pressure_us > first->pressure_us ? last->pressure_us - first->pressure_us : 0};
}

bool killed_for_memory(const struct samples *samples) {
  return samples->process_count == 1 && samples->ended &&
         trace_was_killed_for_memory(samples->end.kind, samples->end.cause);
}
/* SPDX-License-Identifier: MIT */
