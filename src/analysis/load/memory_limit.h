/* What the memory control group of the processes reported over the run: limits, pressure, kills. */
#pragma once

#include "analysis/load/samples.h"

/* The limits are the last ones. Zeros: nothing is known, or several processes have groups with
 * other limits. */
struct memory_limit {
  uint64_t limit, high;
  uint64_t kills, pressure_us; /* since the first record */
};
struct memory_limit memory_limit_of(const struct samples *samples);

/* Whether the process, the only one, was killed for memory, as `winnow record` saw it. */
bool killed_for_memory(const struct samples *samples);

/* Whether it probably was, where nobody saw it: no end was recorded, no process writes the trace
 * any more, and by the last measurement the process's private memory alone nearly filled the limit. */
bool probably_killed_for_memory(const struct samples *samples);

/* One of the two. What was held at the end is then what is asked for. */
static inline bool memory_ran_out(const struct samples *samples) {
  return killed_for_memory(samples) || probably_killed_for_memory(samples);
}
/* SPDX-License-Identifier: MIT */
