/* What makes a comparison of heap snapshots doubtful. Of traces nothing here does: those of two processes
 * are usually compared. */
#pragma once

#include "analysis/load/recording.h"

struct doubt {
  const char *title; /* "WRONG ORDER" */
  const char *text;  /* without a full stop */
};

enum { DOUBTS_MOST = 2 };

/* Finds the doubts about snapshots that are compared in this order, by the command, the process and the
 * wall clock of their runs. Returns how many there are; they are constants. */
size_t doubts_of_runs(const struct trace_run *runs, size_t count, const struct doubt *found[DOUBTS_MOST]);

/* The same of two recordings. 0 if one of them is no heap snapshot. */
size_t doubts_of_recordings(const struct recording *before, const struct recording *after,
                            const struct doubt *found[DOUBTS_MOST]);
/* SPDX-License-Identifier: MIT */
