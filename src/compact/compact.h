/* Keeps a trace below a bound, while its program writes it or afterwards. Called by a process that
 * is not the profiled one: `winnow record`, or `winnow compact`. */
#pragma once

#include "trace/bound.h"
#include <stdbool.h>
#include <stdint.h>
#include <winnow/status.h>

struct compact_result {
  uint64_t bytes_before, bytes_after;     /* disk space of the trace and its history */
  uint64_t chunks;                        /* that were taken over */
  uint64_t samples_before, samples_after; /* in them and in the history */
};

/* Whether a trace that may take `max_bytes` is due for compaction: its disk space, not that of its
 * history, is looked at. False if it cannot be looked at. */
bool compact_is_due(const char *path, uint64_t max_bytes);

/* Moves all chunks that their writer has left (all, if no process writes the trace) into the
 * history, and leaves out samples so that it takes no more than its part of `max_bytes`. The trace
 * is at every moment, also if this process is killed, as it was before or as it is afterwards.
 *
 * MEMORY. It runs where the program may be limited. It takes at most five eighths of `max_bytes`
 * and some 6 MB: two eighths for a copy of chunks (excerpt.h), mostly one; one for the tables of a
 * part (blocks.h); two for two bytes for each record of a block, mostly one; and what does not
 * depend on the trace. So it reads the trace once for each part, some ten times. A bound of more
 * than 4 GiB counts as 4 GiB.
 *
 * WN_EBUSY: another process compacts it. WN_EINVAL: it is no trace of Winnow. WN_EIO: also if the
 * history is damaged; then nothing is changed. WN_ENOMEM, and all of them with wn_last_error. */
wn_status compact_trace(const char *path, uint64_t max_bytes, struct compact_result *result);

/* Writes a trace and its history as one trace, of which nothing is left out, over `target`, which
 * is empty or a trace. Errors as above; then the target is gone. */
wn_status compact_copy(const char *path, const char *target);
/* SPDX-License-Identifier: MIT */
