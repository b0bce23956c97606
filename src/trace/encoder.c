/* Records as bytes within one chunk: the writing side of events.def. */
#include "trace/encoder.h"

#include "base/words.h"

/* ---- codings ---- */

static void put_unsigned(struct encoder *encoder, uint64_t value) { put_varint(&encoder->sink, value); }
/* The reader takes more for damage, so a caller that passes more has the most written. */
static uint64_t at_most(uint64_t value, uint64_t most) { return value < most ? value : most; }

static void put_amount(struct encoder *encoder, uint64_t value) {
  put_varint(&encoder->sink, at_most(value, TRACE_AMOUNT_MOST));
}
static void put_added(struct encoder *encoder, uint64_t value) { put_varint(&encoder->sink, value); }
static void put_added_amount(struct encoder *encoder, uint64_t value) { put_amount(encoder, value); }
static void put_small(struct encoder *encoder, uint8_t value) { put_byte(&encoder->sink, value); }
static void put_later(struct encoder *encoder, uint8_t value) { put_byte(&encoder->sink, value); }

static void put_signed(struct encoder *encoder, int32_t value) {
  put_varint(&encoder->sink, zigzag((uint64_t)(int64_t)value));
}

static void put_time(struct encoder *encoder, uint64_t time) {
  time = at_most(time, TRACE_TIME_MOST);
  put_varint(&encoder->sink, zigzag(time - encoder->state.time));
  encoder->state.time = time;
}

static void put_block(struct encoder *encoder, uint64_t block) {
  put_varint(&encoder->sink, zigzag(block - encoder->state.block));
  encoder->state.block = block;
}

/* A block that dies or changes lies some way back and says nothing about the next one. */
static void put_known_block(struct encoder *encoder, uint64_t block) {
  put_varint(&encoder->sink, zigzag(encoder->state.block - block));
}

static void put_whole_text(struct encoder *encoder, struct trace_text text) {
  put_varint(&encoder->sink, text.length);
  put_bytes(&encoder->sink, text.bytes, text.length);
}

static void put_text(struct encoder *encoder, struct trace_text text) {
  if (text.length > TRACE_TEXT_MOST) text.length = TRACE_TEXT_MOST;
  put_whole_text(encoder, text);
}

static void put_real(struct encoder *encoder, double value) {
  put_bytes(&encoder->sink, &value, sizeof value);
}

static void put_rate(struct encoder *encoder, double rate) { put_real(encoder, rate); }

static void put_added_rate(struct encoder *encoder, double rate) {
  if (rate > 0 && rate != encoder->rate) put_real(encoder, rate);
}

static void put_trial_rate(struct encoder *encoder, double rate) {
  if (rate != encoder->rate) put_real(encoder, rate);
}

/* ---- one function for each event record ---- */

#define put_stack(encoder, value)  put_varint(&encoder->sink, encoder->local)
#define put_module(encoder, value) put_varint(&encoder->sink, encoder->local)
#define put_words(encoder, value)                                       \
  put_varint(&encoder->sink, zigzag(at_most(value, TRACE_AMOUNT_MOST) - \
                                    malloc_words(at_most(event->size, TRACE_AMOUNT_MOST))))
#define put_usual_words(encoder, value)
#define put_one(encoder, value)
#define put_yes(encoder, value)
#define put_chunk_rate(encoder, value)
#define TRACE_FIELD(coding, member) put_##coding(encoder, event->member);
#define FIXED(encoder, number) \
  unsigned char *body = NULL;  \
  put_byte(&encoder->sink, number);
#define LENGTH(encoder, number) unsigned char *body = put_record_begin(&encoder->sink, number);
#define TRACE_EVENT(NAME, type, EVENT, number, framing, fields)                       \
  static void put_##NAME(struct encoder *encoder, const struct trace_##type *event) { \
    framing(encoder, number) put_time(encoder, event->time_ns);                       \
    fields put_record_end(&encoder->sink, body);                                      \
  }
#include "trace/events.def"
#undef TRACE_FIELD

static void put_event(struct encoder *encoder, enum trace_record record, const void *event) {
  switch (record) {
#define TRACE_EVENT(NAME, type, EVENT, number, framing, fields) \
  case TRACE_RECORD_##NAME:                                     \
    put_##NAME(encoder, event);                                 \
    break;
#include "trace/events.def"
  default: ASSERT(false); break;
  }
}

/* ---- what must stand before a record ---- */

static void put_thread(struct encoder *encoder, uint32_t thread) {
  struct coding_state *state = &encoder->state;
  if (state->thread_known && state->thread == thread) return;
  put_byte(&encoder->sink, TRACE_RECORD_THREAD);
  put_varint(&encoder->sink, thread);
  state->thread = thread;
  state->thread_known = true;
}

static void define_given_stack(struct encoder *encoder) {
  encoder->local = stack_encode(&encoder->stacks, &encoder->sink, encoder->stack);
}

static void define_module(struct encoder *encoder, uint32_t module) {
  encoder->local = module_encode(&encoder->stacks, &encoder->sink, module);
}

#define define_stack(encoder, value) define_given_stack(encoder);
/* Other fields refer to nothing. */
#define define_unsigned(encoder, value)
#define define_amount(encoder, value)
#define define_added(encoder, value)
#define define_added_amount(encoder, value)
#define define_small(encoder, value)
#define define_later(encoder, value)
#define define_signed(encoder, value)
#define define_block(encoder, value)
#define define_known_block(encoder, value)
#define define_text(encoder, value)
#define define_words(encoder, value)
#define define_usual_words(encoder, value)
#define define_one(encoder, value)
#define define_yes(encoder, value)
#define define_rate(encoder, value)
#define define_added_rate(encoder, value)
#define define_trial_rate(encoder, value)
#define define_chunk_rate(encoder, value)
#define TRACE_FIELD(coding, member) define_##coding(encoder, event->member);
#define TRACE_EVENT(NAME, type, EVENT, number, framing, fields)                                 \
  static inline void define_##NAME(struct encoder *encoder, const struct trace_##type *event) { \
    (void)encoder, (void)event;                                                                 \
    fields                                                                                      \
  }
#include "trace/events.def"
#undef TRACE_FIELD

static void put_definitions(struct encoder *encoder, enum trace_record record, const void *event) {
  switch (record) {
#define TRACE_EVENT(NAME, type, EVENT, number, framing, fields) \
  case TRACE_RECORD_##NAME:                                     \
    define_##NAME(encoder, event);                              \
    break;
#include "trace/events.def"
  default: break;
  }
}

/* The short forms of records imply the rate of the chunk. */
static enum trace_record form_of(const struct encoder *encoder, enum trace_record record, const void *event) {
  const struct trace_sample *sample = event;
  const struct trace_resize *resize = event;
  switch (record) {
  case TRACE_RECORD_SAMPLE:
  case TRACE_RECORD_SAMPLE_FULL:
    return !(sample->rate > 0) || sample->rate == encoder->rate ? record : TRACE_RECORD_SAMPLE_RATE;
  case TRACE_RECORD_RESIZE: return resize->rate == encoder->rate ? record : TRACE_RECORD_RESIZE_RATE;
  default: return record;
  }
}

/* ---- shared ---- */

void encoder_begin(struct encoder *encoder, unsigned char *at, unsigned char *end,
                   const struct chunk_header *chunk) {
  encoder->sink = (struct byte_sink){.at = at, .end = end};
  encoder->state = (struct coding_state){.time = chunk->base_time};
  encoder->rate = chunk->rate;
  stack_encoder_reset(&encoder->stacks);
}

bool encoder_put(struct encoder *encoder, enum trace_record record, const void *event) {
  unsigned char *start = encoder->sink.at;
  struct coding_state state = encoder->state;
  record = form_of(encoder, record, event);
  put_definitions(encoder, record, event);
  put_thread(encoder, ((const struct trace_at *)event)->thread);
  put_event(encoder, record, event);
  if (!encoder->sink.full) {
    if (encoder->stacks.changed) stack_encoder_keep(&encoder->stacks);
    return true;
  }
  encoder->sink.full = false;
  encoder->sink.at = start;
  encoder->state = state;
  if (encoder->stacks.changed) stack_encoder_go_back(&encoder->stacks);
  return false;
}

bool encoder_put_run(struct encoder *encoder, const struct trace_run *run) {
  unsigned char *start = encoder->sink.at;
  unsigned char *body = put_record_begin(&encoder->sink, TRACE_RECORD_RUN);
  put_varint(&encoder->sink, run->pid);
  put_varint(&encoder->sink, run->parent_pid);
  put_varint(&encoder->sink, run->seed);
  put_real(encoder, run->rate);
  put_varint(&encoder->sink, run->stack_depth);
  put_byte(&encoder->sink, run->word_bytes);
  put_varint(&encoder->sink, run->wall_ns);
  put_varint(&encoder->sink, run->monotonic_ns);
  put_whole_text(encoder, run->command);
  put_text(encoder, run->host);
  put_text(encoder, run->heap);
  put_text(encoder, run->version);
  if (run->context.length) put_text(encoder, run->context);
  put_record_end(&encoder->sink, body);
  if (!encoder->sink.full) return true;
  encoder->sink.full = false;
  encoder->sink.at = start;
  return false;
}

void encoder_resumption(const struct encoder *encoder, struct checkpoint *checkpoint) {
  const struct stack_marks *marks = &encoder->stacks.kept;
  checkpoint->time = encoder->state.time;
  checkpoint->block = encoder->state.block;
  checkpoint->thread = encoder->state.thread;
  checkpoint->nodes = marks->nodes;
  checkpoint->modules = marks->modules;
  checkpoint->address = marks->address;
}

unsigned char *put_record_begin(struct byte_sink *sink, unsigned record) {
  put_byte(sink, record | 128);
  put_byte(sink, 0);
  return sink->full ? NULL : sink->at;
}

/* One byte was kept for the length; a longer one pushes the body back. */
void put_record_end(struct byte_sink *sink, unsigned char *body) {
  if (!body || sink->full) return;
  size_t length = (size_t)(sink->at - body);
  size_t more = length >= 1u << 21 ? 3 : length >= 1u << 14 ? 2 : length >= 128 ? 1 : 0;
  if ((size_t)(sink->end - sink->at) < more) {
    sink->full = true;
    return;
  }
  memmove(body + more, body, length);
  struct byte_sink prefix = {.at = body - 1, .end = body + more};
  put_varint(&prefix, length);
  sink->at += more;
}
/* SPDX-License-Identifier: MIT */
