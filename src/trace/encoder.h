/* Records as bytes within one chunk: the coding state, and one function that codes any event.
 *
 * The state is what makes records short: the last time, the last block number and the current
 * thread. A chunk begins with its base time, block 0 and no thread. A failed encode (false) leaves
 * the sink where it was and the state unchanged; the dictionaries are forgotten then, so that the
 * same record may be tried again with more room. */
#ifndef TRACE_ENCODER_H
#define TRACE_ENCODER_H

#include "trace/checkpoint.h"
#include "trace/chunk.h"
#include "trace/stack_encoder.h"

struct coding_state {
  uint64_t time;
  uint64_t block;
  uint32_t thread;
  bool thread_known;
};

/* Zeroed memory, with stacks.source set, is an encoder. */
struct encoder {
  struct byte_sink sink;
  struct coding_state state;
  double rate;              /* of the chunk */
  struct trace_stack stack; /* of the record at hand */
  uint32_t local;           /* the chunk's number for the stack or module of that record */
  struct stack_encoder stacks;
};

/* Starts on a chunk's record bytes. */
void encoder_begin(struct encoder *encoder, unsigned char *at, unsigned char *end,
                   const struct chunk_header *chunk);

/* Puts one event record with all it needs before it. `event` is the struct of the record's type; if
 * that has a stack, it is encoder->stack. */
bool encoder_put(struct encoder *encoder, enum trace_record record, const void *event);

bool encoder_put_run(struct encoder *encoder, const struct trace_run *run);

/* Where decoding could resume at the sink's place. Fills in what the encoder knows of it. */
void encoder_resumption(const struct encoder *encoder, struct checkpoint *checkpoint);

/* Around the body of a record with a length. NULL, which record_end accepts, when the sink is
 * full. */
unsigned char *put_record_begin(struct byte_sink *sink, unsigned record);
void put_record_end(struct byte_sink *sink, unsigned char *body);

#endif
/* SPDX-License-Identifier: MIT */
