/* The history of a trace: a file beside it that has taken over the records of some of its chunks
 * (Histories in docs/trace-format.md). compact/compact.c writes it, and the reader reads both as
 * one trace.
 *
 * Readers and the compactor. The compactor replaces the history by rename(2), which readers see
 * before or after, and then makes holes of the chunks that the new history has taken over. A reader
 * that still has the history before must not find these holes. So a reader has a shared lock on the
 * trace from before it opens the history until it has read all, and the compactor makes holes only
 * while no reader has one. The lock is one of the file's description (F_OFD_SETLK) on a byte that
 * no trace has, and has nothing to do with the lock by which a process writes the trace. Where
 * there are no such locks, a reader beside a compactor may miss what was taken over at that moment. */
#ifndef TRACE_HISTORY_H
#define TRACE_HISTORY_H

#include "trace/event.h"

#define HISTORY_ENDING ".history"
#define HISTORY_NEW    ".history.new" /* while it is written */

/* `path` with an ending; from malloc. NULL: no memory. */
char *history_path(const char *path, const char *ending);

/* Chunks that a history has taken over: ranges in ascending order, between which others lie. Zeroed
 * memory: none. */
struct replaced {
  struct trace_replaces *ranges;
  size_t count, capacity;
};

/* Adds a range behind the others. One that does not follow them, as those of a history do, is
 * passed over. False without memory. */
bool replaced_add(struct replaced *replaced, const struct trace_replaces *range);
bool replaced_has(const struct replaced *replaced, uint64_t chunk);
/* One more than the largest number of such a chunk; 0: there is none. */
uint64_t replaced_end(const struct replaced *replaced);
void replaced_destroy(struct replaced *replaced);

/* The reader's lock, until the descriptor is closed; waits a second at most for a compactor. */
void history_lock_for_reading(int descriptor);

/* The lock by which one process at a time compacts a trace, until the descriptor is closed. False:
 * another one has it. */
bool history_lock_for_compacting(int descriptor);

/* The compactor's lock to make holes, until history_unlock. False: some reader has not ended within
 * `seconds`. */
bool history_lock_for_holes(int descriptor, unsigned seconds);
void history_unlock(int descriptor);

#endif
/* SPDX-License-Identifier: MIT */
