/* Records from the bytes of one chunk: the mirror of encoder.h, which may assume nothing of its
 * input. */
#ifndef TRACE_DECODER_H
#define TRACE_DECODER_H

#include "trace/checkpoint.h"
#include "trace/codec.h"
#include "trace/event.h"
#include "trace/stack_table.h"

/* The table's numbers of what a chunk has defined, by the chunk's own numbers; [0] is 0. */
struct local_numbers {
  uint32_t *numbers;
  uint32_t count;
  size_t capacity;
};

/* Zeroed memory, with a table, is a decoder. */
struct decoder {
  struct stack_table *table;
  struct byte_source source;
  uint64_t time;
  uint64_t block;
  uint32_t thread;
  double rate; /* of the chunk */
  struct local_numbers nodes;
  struct local_numbers modules;
  uint64_t *last_offset; /* by the chunk's module number; as large as `modules` */
  size_t last_offset_capacity;
  bool out_of_memory;
  uint64_t unknown;     /* records skipped so far, in all chunks */
  uint64_t stacks_lost; /* records so far whose stack was defined in a part that is lost */
};

enum decoder_result {
  DECODER_EVENT,
  DECODER_RUN, /* a RUN record, whose texts point into the chunk */
  DECODER_END,
  DECODER_BAD,      /* the rest of the chunk cannot be understood */
  DECODER_NO_MEMORY /* cannot go on */
};

/* Starts on a chunk's record bytes, which stay valid until the next begin. `rate` is that of the
 * chunk: of the records that name none. */
void decoder_begin(struct decoder *decoder, const unsigned char *bytes, size_t count, uint64_t base_time,
                   double rate);

/* Starts on a segment of a chunk of the rate `rate`, which with its record bytes stays valid until
 * the next begin; `first`: of what is left of its chunk. What lies between it and the segment
 * before is lost, with the definitions there. */
void decoder_resume(struct decoder *decoder, const unsigned char *bytes, const struct segment *segment,
                    double rate, bool first);

/* Starts on bytes that follow those decoded last. */
void decoder_continue(struct decoder *decoder, const unsigned char *bytes, size_t count);

/* The next event or run of the chunk. A text in an event points into the chunk. */
enum decoder_result decoder_next(struct decoder *decoder, struct trace_event *event, struct trace_run *run);

void decoder_destroy(struct decoder *decoder);

#endif
/* SPDX-License-Identifier: MIT */
