/* Completes a trace after the program that wrote it ended. */
#ifndef TRACE_FINISH_H
#define TRACE_FINISH_H

#include "trace/reader.h"

/* What the trace holds. */
struct trace_totals {
  uint64_t samples; /* records of sampled blocks */
  bool changes;     /* its rate of sampling changed, so hits are not in proportion */
  uint64_t hits;    /* sampled words in them: in proportion to what was allocated */
  uint64_t file_bytes;
  uint64_t resident_bytes; /* the most that was measured, or counted by the kernel; 0: nothing was */
  struct trace_damage damage;
  struct trace_end
      end; /* if damage.complete: how the program ended, by its own record or by trace_finishing.end */
  char became[256]; /* what the program last asked to become by exec; empty: nothing, or not known */
};

/* Cuts off the space at the end of the file that no chunk uses. Refuses a file that is no trace
 * (untouched) and one that is still being written (WN_EBUSY). Sets wn_last_error on failure. */
wn_status trace_finish(const char *path, struct trace_totals *out);

/* The same, for a caller that knows more of the program's end. */
struct trace_finishing {
  /* A trace without an END record gets this one. NULL: it gets none. Its time_ns is a time of the
   * monotonic clock; the record gets the time since the trace began. If the disk has no room for
   * the record, that is no failure. The kernel's peak_bytes of a process also counts the programs
   * that the process was before an exec; a value that is not clearly more than `resident_before` is
   * left out. */
  const struct trace_end *end;
  uint64_t resident_before; /* bytes that were resident before the program began, at least */
  /* Called now and then, with the part that was read; may be NULL. */
  void (*progress)(double done, void *context);
  void *context;
  /* Called for each program that a process became and that could not be recorded; may be NULL. */
  void (*unrecorded)(const struct trace_unrecorded *unrecorded, const struct trace_run *run, void *context);
  void *unrecorded_context;
  /* Called once, when all of the trace is read; may be NULL. */
  void (*read)(const struct trace_reader *reader, void *context);
  void *read_context;
};
wn_status trace_finish_with(const char *path, const struct trace_finishing *finishing,
                            struct trace_totals *out);

#endif
/* SPDX-License-Identifier: MIT */
