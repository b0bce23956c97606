/* Reads a trace, whatever became of it.
 *
 * Chunks are read one after another in the order of the file, each checked before a byte of it is
 * believed. Of one that is damaged the segments are read that are whole (checkpoint.h), and the
 * rest is counted and passed over; the next chunk stands at the next multiple of the capacity,
 * which the first good chunk tells. Events come chunk by chunk: the times of one thread can go back
 * where its records lie in two streams.
 *
 * A trace that has a history (history.h) is read with it as one.
 *
 * Any bytes are survived: every length is bounded, every number checked, and memory stays in
 * proportion to the file. A trace may be read while it is being written: each chunk is then read as
 * it is at that moment, so of the records that are written meanwhile some are seen and some are
 * not. */
#ifndef TRACE_READER_H
#define TRACE_READER_H

#include "trace/event.h"
#include "trace/stack_table.h"
#include <winnow/status.h>

struct trace_reader;
struct dropped;

/* WN_EINVAL: it is no trace of Winnow. Sets wn_last_error on failure. */
wn_status trace_reader_open(const char *path, struct trace_reader **out);
/* The same with a history at another path than that beside the trace. */
wn_status trace_reader_open_with(const char *path, const char *history, struct trace_reader **out);
void trace_reader_close(struct trace_reader *reader);

/* From the next chunk on stacks, modules and names are forgotten, between two chunks, when there
 * are more than `most`. Their numbers are not given again; a number is good until the next call of
 * next. */
void trace_reader_forget_stacks(struct trace_reader *reader, uint32_t most);

/* False at the end of the file. Texts in the event, and title and name of the run, are valid
 * until the next call. */
bool trace_reader_next(struct trace_reader *reader, struct trace_event *event);

/* If the RUN record is damaged, only rate and word_bytes are known; the rest is 0 or empty. */
const struct trace_run *trace_reader_run(const struct trace_reader *reader);
const struct trace_damage *trace_reader_damage(const struct trace_reader *reader);

/* Numbers run from 1 to these; the counts grow with next. Pointers are valid until the next call of
 * next. */
uint32_t trace_reader_nodes(const struct trace_reader *reader);
uint32_t trace_reader_modules(const struct trace_reader *reader);
struct trace_node trace_reader_node(const struct trace_reader *reader, uint32_t node);
const struct trace_module *trace_reader_module(const struct trace_reader *reader, uint32_t module);

/* All of these, with their names. The caller may add nodes. */
struct stack_table *trace_reader_table(const struct trace_reader *reader);

/* The name of what is at an offset of a language's module; NULL if it has none. */
static inline const struct trace_place *trace_reader_place(const struct trace_reader *reader, uint32_t module,
                                                           uint64_t offset) {
  return stack_table_place(trace_reader_table(reader), module, offset);
}

/* Where a record may be added behind what was read. */
struct trace_tail {
  uint64_t offset;    /* of the last whole chunk */
  uint64_t capacity;  /* of every chunk */
  uint64_t last_time; /* that the next time in it is relative to */
  bool sound;         /* all of its records were understood */
};
struct trace_tail trace_reader_tail(const struct trace_reader *reader);

/* What was dropped, as the records that were read tell of it (dropped.h). */
const struct dropped *trace_reader_dropped(const struct trace_reader *reader);

/* Whether a part of the history is damaged or missing; known once all of it was read. */
bool trace_reader_history_damaged(const struct trace_reader *reader);

/* The number of the chunk that the last event is from. False: it is from the trace's history. */
bool trace_reader_chunk(const struct trace_reader *reader, uint64_t *chunk);

/* How much of the file is read, from 0 to 1. */
double trace_reader_position(const struct trace_reader *reader);

/* Where the used bytes of what was read end; the file may be cut there. */
uint64_t trace_reader_used_end(const struct trace_reader *reader);

#endif
/* SPDX-License-Identifier: MIT */
