/* The last hand on a trace, after the program that wrote it ended. */
#ifndef TRACE_FINISH_H
#define TRACE_FINISH_H

#include "trace/reader.h"

/* What the trace holds. */
struct trace_totals {
  uint64_t samples; /* records of sampled blocks */
  uint64_t file_bytes;
  struct trace_damage damage;
};

/* Cuts off the space at the end of the file that no chunk uses. Refuses a file that is no trace (untouched) and one that
 * is still being written (WN_EBUSY). Sets wn_last_error on failure. */
wn_status trace_finish(const char *path, struct trace_totals *out);

#endif
/* SPDX-License-Identifier: MIT */
