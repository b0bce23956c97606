/* What a recording held, allocated and freed, as rows for a database of many machines: for each
 * stretch of time and each stack the sums from which an estimate and its interval are computed.
 *
 * WINDOW. A stretch of WINDOW_SECONDS by the wall clock, from midnight UTC on: so it lies in one
 * day, and the windows of all machines are the same. `born` is what was allocated in it, as the report
 * counts allocations; `died` the blocks that were freed in it; `held` what was held at its end. A process
 * that has ended holds nothing at the end of its last window: there `left` is what it had not freed. So
 * `born` of all windows adds up to what the report says was allocated, and `held` or `left` of the last
 * one is what the report says is held at the end.
 *
 * PARTIAL. Where records are missing, or the recording was asleep before, sums are lower bounds.
 *
 * SUMS. Blocks are sampled independently of each other. So the members of struct sum (estimate.h)
 * can be added over stacks, windows and machines, but for `held` of several moments of one process,
 * which are largely the same blocks.
 *
 * NUMBERS. A run, a batch, a site, a stack and a frame have numbers that depend on what they are
 * alone: machines that never heard of each other give equal things equal numbers.
 *
 *   run    the start of the process, by both clocks, its number, its seed, and its machine
 *   batch  the rows of a run in one window
 *   site   the name of a row of the report, with that of its file without its version
 *   frame  the build-id of a file, an offset in it, and which of the functions inlined there
 *   stack  its frames, innermost first */
#pragma once

#include "analysis/report/report.h"
#include "base/index.h"
#include "export/clickhouse_columns.h"

/* Who a run belongs to. NULL: the name of its program, the first digits of its build-id. */
struct clickhouse_labels {
  const char *service, *release;
};

/* The numbers of the frames, stacks and sites that were written. Zeroed memory is empty. */
struct clickhouse_told {
  uint64_t *items;
  size_t count, capacity;
  struct index by_number;
};
void clickhouse_forget(struct clickhouse_told *told);

/* A recording of one process, to be written window by window. */
struct clickhouse;

/* The report, of a question about the end, must outlive it, and so must `told`: what is in there is
 * not written again. WN_ENOMEM; WN_EINVAL: the trace does not tell when its process began. */
wn_status clickhouse_create(const struct report *report, const struct clickhouse_labels *labels,
                            enum clickhouse_encoding encoding, struct clickhouse_told *told,
                            struct clickhouse **clickhouse);

/* The process has not ended, and its last window is not over; unless this is called, it has if its
 * trace has an end record. */
void clickhouse_go_on(struct clickhouse *clickhouse, bool goes_on);
void clickhouse_destroy(struct clickhouse *clickhouse);

/* The numbers of windows, since 1970: that of a time of the trace, and those of its start and of its
 * last event. The last one is not over while its process goes on; and one that does nothing goes on,
 * too: what it held is what later windows hold. */
uint64_t clickhouse_window_of(const struct clickhouse *clickhouse, uint64_t time_ns);
uint64_t clickhouse_first(const struct clickhouse *clickhouse);
uint64_t clickhouse_last(const struct clickhouse *clickhouse);

uint64_t clickhouse_run(const struct clickhouse *clickhouse);
uint64_t clickhouse_batch(const struct clickhouse *clickhouse, uint64_t window);

/* Writes the rows of a window, later than that of the call before, to a stream of each table, and
 * sets *count to the number of those of `samples`. A window without such rows has one of `loads` all
 * the same. WN_ENOMEM; errors of the streams are left to the caller. */
wn_status clickhouse_window(struct clickhouse *clickhouse, uint64_t window,
                            FILE *const streams[CLICKHOUSE_TABLES], size_t *count);
/* SPDX-License-Identifier: MIT */
