/* Collects the programs that could not be recorded. A process reports in its trace that it, or a
 * process that it started, becomes such a program. */
#pragma once

#include "base/image.h"
#include "trace/finish.h"
#include <stddef.h>

struct unrecorded_program {
  char path[256];
  enum image_kind reason;
  size_t processes;
};

struct unrecorded {
  struct unrecorded_program *programs;
  size_t count, processes;
  /* The last such program that the process of the present trace itself tried to become; reason
   * IMAGE_GOOD: none. */
  struct unrecorded_program own;
};

/* Reads a trace to its end as trace_finish_with does, and collects the unrecorded programs of
 * processes that the process of the trace started. */
wn_status unrecorded_finish(struct unrecorded *all, const char *path, const struct trace_finishing *finishing,
                            struct trace_totals *totals);

/* Counts `own`, if there is one: the process of the trace became that program. */
void unrecorded_count_own(struct unrecorded *all);

/* Prints one line about all of them. */
void unrecorded_say(const struct unrecorded *all);
void unrecorded_free(struct unrecorded *all);
/* SPDX-License-Identifier: MIT */
