/* Programs that processes became and that could not be recorded, as the traces of the processes
 * before tell them. */
#ifndef CLI_UNRECORDED_H
#define CLI_UNRECORDED_H

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
  /* Of the trace that is read: what its own process asked to become last; reason IMAGE_GOOD:
   * nothing. */
  struct unrecorded_program own;
};

/* Reads a trace to its end as trace_finish_with does, and takes down what it tells of processes
 * that this one started. */
wn_status unrecorded_finish(struct unrecorded *all, const char *path, const struct trace_finishing *finishing,
                            struct trace_totals *totals);

/* Counts `own`, if the process of the trace became that program. */
void unrecorded_count_own(struct unrecorded *all, const struct trace_totals *totals);

/* One line about all of them. */
void unrecorded_say(const struct unrecorded *all);
void unrecorded_free(struct unrecorded *all);

#endif
/* SPDX-License-Identifier: MIT */
