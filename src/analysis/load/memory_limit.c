/* Sums up the records of control groups. */
#include "analysis/load/memory_limit.h"

/* Private memory of at least this part of the limit nearly fills it. Of 26 programs that grew until
 * they were killed in a group of 64 MB the last measurement had 94.4 to 99.5 %; how much is missing
 * depends on the size of their steps. The usage of the group would not do: it has file pages, which
 * the system takes back before it kills, so that a program that writes files is at the limit all
 * the time; and it is read once a second. Nor would resident memory, which has pages of files that
 * other groups pay for: it was 104 to 109 %. */
static const double NEARLY = 0.9;

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

bool probably_killed_for_memory(const struct samples *samples) {
  if (samples->process_count != 1 || samples->ended || samples->processes->writing) return false;
  uint64_t limit = memory_limit_of(samples).limit;
  return limit && samples->memory_count &&
         (double)samples->memory[samples->memory_count - 1].private_bytes >= NEARLY * (double)limit;
}
/* SPDX-License-Identifier: MIT */
