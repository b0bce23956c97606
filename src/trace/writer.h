/* Writes a trace from inside the profiled program, malloc included.
 *
 * The writer owns up to 64 streams. A stream has a chunk of the file of its own, mapped shared, and
 * the coding state and dictionaries that belong to that chunk. A thread that writes claims a free
 * stream by compare-and-swap, appends its record, and lets go: so no lock stands on the path,
 * threads need no set-up and no end, ten thousand short threads share few streams, and a signal
 * handler that interrupts a write simply takes another stream. A thread begins to look at the
 * stream that it used last. A write that never returns (its handler left with longjmp) leaves its
 * stream claimed for ever: that stream is lost, the rest go on.
 *
 * A record's bytes, with the definitions that it needs before it, are put behind what the chunk's
 * commit word covers, and one store of the commit word publishes them all (chunk.h). Killed at any
 * instant, a program loses at most the record that each thread was writing. What does not fit is
 * coded again in the stream's next chunk, which knows no definitions.
 *
 * A stream that goes to its next chunk seals the old one (LEFT of stream.h), and so does an idle
 * stream that lags: another process may take over what is sealed. Under a bound the oldest sealed
 * chunks are dropped (dropping.h).
 *
 * Checkpoints among the records let a reader of a damaged chunk go on behind the damage
 * (checkpoint.h).
 *
 * A record that cannot be written is counted, and the count written as a LOSS record as soon as one
 * fits: each chunk keeps some bytes at the end of its space for LOSS and END alone, so that even a
 * full disk can be told.
 *
 * Every function but open and close may be called from any thread at any time, from signal handlers
 * too; none allocates, blocks or changes errno. */
#ifndef TRACE_WRITER_H
#define TRACE_WRITER_H

#include "trace/event.h"
#include "trace/stack_encoder.h"
#include <winnow/status.h>

struct trace_writer;

struct trace_options {
  const char *path;     /* a file, or with a slash at its end a folder (FOLDER in chunk_file.h) */
  uint64_t limit_bytes; /* the file will not grow beyond; 0: no limit */
  uint64_t
      bound_bytes; /* it takes no more disk space: the oldest chunks are dropped (dropping.h); 0: no bound */
  /* Called once, with the path, by the thread that finds that another process has made the file
   * shorter. Nothing is written any more. NULL: nothing is called. */
  void (*cut)(const char *path);
  /* No other process knows the file, so no look is taken at whether it was made shorter. */
  bool alone;
};

/* Creates the file and everything that writing needs. The source is copied; its functions are
 * called by writes. Sets wn_last_error on failure, and leaves no open file behind. */
wn_status trace_writer_open(const struct trace_options *options, const struct trace_run *run,
                            const struct trace_stack_source *source, struct trace_writer **out);

/* The whole path of the file; constant, the writer's. */
const char *trace_writer_path(const struct trace_writer *writer);

/* The samples have this rate from now on, most of them: those are coded in the fewest bytes. */
void trace_writer_rate(struct trace_writer *writer, double rate);

/* trace_write_free and so on, one for each kind of event (events.def). False: the record is lost,
 * and counted. The stack's memory is the caller's. */
#define WRITER_PLAIN(type) \
  bool trace_write_##type(struct trace_writer *writer, const struct trace_##type *event);
#define WRITER_STACK(type)                                                               \
  bool trace_write_##type(struct trace_writer *writer, const struct trace_##type *event, \
                          struct trace_stack stack);
#define WRITER_OWN(type)
#define TRACE_STRUCT(type, EVENT, WRITER, members) WRITER_##WRITER(type)
#include "trace/events.def"
#undef WRITER_PLAIN
#undef WRITER_STACK
#undef WRITER_OWN

/* Likewise. Which record is short enough for a sample depends on it; a loss and the end have room
 * of their own. */
bool trace_write_sample(struct trace_writer *writer, const struct trace_sample *sample,
                        struct trace_stack stack);
bool trace_write_loss(struct trace_writer *writer, const struct trace_loss *loss);
bool trace_write_end(struct trace_writer *writer, const struct trace_end *end);

/* `count` sampled blocks could not be followed. The trace says so at once if it knows of less than a
 * quarter of them, or else with the next record: many such blocks make few records. */
void trace_lose(struct trace_writer *writer, const struct trace_at *at, uint64_t count);

/* Before an exec, which if it succeeds is the last that this writer sees: writes the EXEC record,
 * if there is room, and an END, and keeps the END's stream. When the exec failed, trace_exec_failed
 * with the number returned takes the END out again and lets the stream go; any other thread may
 * write meanwhile. 0: no END was written, nothing is to be undone. */
unsigned trace_write_exec(struct trace_writer *writer, const struct trace_exec *exec);
void trace_exec_failed(struct trace_writer *writer, unsigned number);

/* Records lost so far, over the whole run. */
uint64_t trace_writer_lost(const struct trace_writer *writer);

/* Chunks with records that were dropped so far, since the file had reached its bound. */
uint64_t trace_writer_dropped(const struct trace_writer *writer);

/* When the one was begun, and sealed, that was dropped last; 0: none was. */
uint64_t trace_writer_dropped_begun(const struct trace_writer *writer);
uint64_t trace_writer_dropped_sealed(const struct trace_writer *writer);

/* Of the file, with what it has in advance. */
uint64_t trace_writer_bytes(const struct trace_writer *writer);

/* In a forked child, which shares the parent's file: closes it and turns the mapped chunks into
 * private memory. Later writes, and one that a signal interrupted, do no harm and reach no file. */
void trace_writer_forget(struct trace_writer *writer);

/* Gives everything back; no other thread may be writing nor write again. */
void trace_writer_close(struct trace_writer *writer);

#endif
/* SPDX-License-Identifier: MIT */
