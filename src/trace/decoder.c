/* Records from the bytes of one chunk: the reading side of events.def. */
#include "trace/decoder.h"

#include "base/array.h"
#include "base/words.h"
#include <stdlib.h>

/* ---- local numbers ---- */

/* Offsets of `count` modules; new ones are 0. */
static bool room_for_offsets(struct decoder *decoder, size_t count) {
  size_t before = decoder->last_offset_capacity, size = sizeof *decoder->last_offset;
  if (!array_reserve(&decoder->last_offset, &decoder->last_offset_capacity, count, size)) return false;
  memset(decoder->last_offset + before, 0, (decoder->last_offset_capacity - before) * size);
  return true;
}

static bool decoder_add_number(struct local_numbers *numbers, uint32_t number) {
  return ARRAY_ADD(numbers->numbers, numbers->count, numbers->capacity, number);
}

/* The number of what was defined in a part that is lost. */
#define LOST UINT32_MAX

static uint32_t get_local(struct byte_source *source, const struct local_numbers *numbers) {
  uint64_t local = get_varint(source);
  if (local < numbers->count) return numbers->numbers[local];
  source->bad = true;
  return 0;
}

static uint32_t decoder_known(uint32_t number) { return number == LOST ? 0 : number; }

/* From here on `count` numbers are given; those that are not known are lost. */
static bool fill_up(struct local_numbers *numbers, uint32_t count) {
  if (numbers->count > count + 1) numbers->count = count + 1;
  while (numbers->count <= count)
    if (!decoder_add_number(numbers, numbers->count ? LOST : 0)) return false;
  return true;
}

/* ---- codings ---- */

static uint64_t get_unsigned(struct decoder *decoder) { return get_varint(&decoder->source); }
/* What older versions did not write yet. */
static uint64_t get_added(struct decoder *decoder) {
  return decoder->source.at == decoder->source.end ? 0 : get_varint(&decoder->source);
}

static uint64_t bounded(struct decoder *decoder, uint64_t value, uint64_t most) {
  if (value > most) decoder->source.bad = true;
  return value;
}

static uint64_t get_amount(struct decoder *decoder) {
  return bounded(decoder, get_varint(&decoder->source), TRACE_AMOUNT_MOST);
}
static uint64_t get_added_amount(struct decoder *decoder) {
  return bounded(decoder, get_added(decoder), TRACE_AMOUNT_MOST);
}

static uint8_t get_small(struct decoder *decoder) { return (uint8_t)get_byte(&decoder->source); }

static uint8_t get_later(struct decoder *decoder) {
  return decoder->source.at < decoder->source.end ? get_small(decoder) : 0;
}

static uint32_t get_stack(struct decoder *decoder) {
  uint32_t stack = get_local(&decoder->source, &decoder->nodes);
  decoder->stacks_lost += stack == LOST;
  return decoder_known(stack);
}

static uint32_t get_module(struct decoder *decoder) {
  return decoder_known(get_local(&decoder->source, &decoder->modules));
}

static uint32_t get_u32(struct byte_source *source) {
  uint64_t value = get_varint(source);
  if (value > UINT32_MAX) source->bad = true;
  return (uint32_t)value;
}

static int32_t get_signed(struct decoder *decoder) {
  int64_t value = (int64_t)unzigzag(get_varint(&decoder->source));
  if (value < INT32_MIN || value > INT32_MAX) decoder->source.bad = true;
  return (int32_t)value;
}

static uint64_t get_time(struct decoder *decoder) {
  decoder->time += unzigzag(get_varint(&decoder->source));
  return bounded(decoder, decoder->time, TRACE_TIME_MOST);
}

static uint64_t get_block(struct decoder *decoder) {
  return decoder->block += unzigzag(get_varint(&decoder->source));
}

static uint64_t get_known_block(struct decoder *decoder) {
  return decoder->block - unzigzag(get_varint(&decoder->source));
}

static struct trace_text get_text(struct decoder *decoder) {
  uint64_t length = get_varint(&decoder->source);
  const unsigned char *bytes = get_bytes(&decoder->source, length);
  return bytes ? (struct trace_text){.bytes = (const char *)bytes, .length = (uint32_t)length}
               : (struct trace_text){.bytes = ""};
}

static struct trace_text get_added_text(struct decoder *decoder) {
  if (decoder->source.at == decoder->source.end) return (struct trace_text){.bytes = ""};
  return get_text(decoder);
}

static double get_real(struct decoder *decoder) {
  double value = 0;
  const unsigned char *bytes = get_bytes(&decoder->source, sizeof value);
  if (bytes) memcpy(&value, bytes, sizeof value);
  return value;
}

static double get_rate(struct decoder *decoder) {
  double rate = get_real(decoder);
  if (!(rate == 0 || trace_rate_samples(rate))) decoder->source.bad = true;
  return rate;
}

static double get_added_rate(struct decoder *decoder) {
  return decoder->source.at == decoder->source.end ? decoder->rate : get_rate(decoder);
}

static double get_trial_rate(struct decoder *decoder) { return get_added_rate(decoder); }

/* ---- one function for each event record ---- */

#define get_words(decoder) \
  bounded(decoder, unzigzag(get_varint(&decoder->source)) + malloc_words(event->size), TRACE_AMOUNT_MOST)
#define get_usual_words(decoder)    malloc_words(event->size)
#define get_one(decoder)            1
#define get_yes(decoder)            true
#define get_chunk_rate(decoder)     (decoder)->rate
#define TRACE_FIELD(coding, member) event->member = get_##coding(decoder);
#define TRACE_EVENT(NAME, type, EVENT, number, framing, fields)                 \
  static void get_##NAME(struct decoder *decoder, struct trace_##type *event) { \
    *event = (struct trace_##type){.thread = decoder->thread};                  \
    event->time_ns = get_time(decoder);                                         \
    fields                                                                      \
  }
#include "trace/events.def"

/* ---- definitions ---- */

static enum decoder_result get_MODULE(struct decoder *decoder) {
  struct byte_source *source = &decoder->source;
  struct trace_module module = {.base = get_varint(source)};
  module.bias = module.base - get_varint(source);
  module.size = get_varint(source);
  module.generation = get_u32(source);
  uint64_t build_id_bytes = get_varint(source);
  const unsigned char *build_id = get_bytes(source, build_id_bytes);
  module.path = get_text(decoder);
  if (source->bad || build_id_bytes > TRACE_BUILD_ID_MAX) return DECODER_BAD;
  module.build_id_bytes = (uint8_t)build_id_bytes;
  if (build_id_bytes) memcpy(module.build_id, build_id, build_id_bytes);
  uint32_t number = stack_table_module(decoder->table, &module);
  if (!number || !room_for_offsets(decoder, (size_t)decoder->modules.count + 1)) return DECODER_NO_MEMORY;
  decoder->last_offset[decoder->modules.count] = 0;
  return decoder_add_number(&decoder->modules, number) ? DECODER_EVENT : DECODER_NO_MEMORY;
}

static enum decoder_result get_PLACE(struct decoder *decoder) {
  struct byte_source *source = &decoder->source;
  uint32_t module = get_module(decoder);
  uint64_t offset = get_varint(source);
  struct trace_place name = {.line = get_u32(source)};
  name.function = get_text(decoder);
  name.file = get_text(decoder);
  if (source->at < source->end) name.first_column = get_u32(source);
  if (source->at < source->end) name.last_column = get_u32(source);
  if (source->at < source->end) name.address = get_varint(source);
  if (source->at < source->end) name.since_ns = get_varint(source);
  if (source->bad) return DECODER_BAD;
  return stack_table_name(decoder->table, module, offset, &name) ? DECODER_EVENT : DECODER_NO_MEMORY;
}

static bool name_code(struct decoder *decoder, const struct trace_code *code) {
  return stack_table_code(decoder->table, &(struct trace_place){.function = code->function,
                                                                .file = code->file,
                                                                .line = (uint32_t)code->line,
                                                                .address = code->address,
                                                                .since_ns = code->since_ns});
}

/* `module` is the chunk's number of the module of the frame before. */
static struct trace_node get_frame(struct decoder *decoder, uint32_t parent, uint32_t *module) {
  struct byte_source *source = &decoder->source;
  bool changes;
  uint64_t step = unzigzag(get_tagged(source, &changes));
  if (changes) *module = get_u32(source);
  if (*module >= decoder->modules.count) {
    source->bad = true;
    *module = 0;
  }
  decoder->last_offset[*module] += step;
  return (struct trace_node){.parent = parent,
                             .module = decoder_known(decoder->modules.numbers[*module]),
                             .offset = decoder->last_offset[*module]};
}

static enum decoder_result get_STACK(struct decoder *decoder) {
  struct byte_source *source = &decoder->source;
  uint32_t parent = decoder_known(get_local(source, &decoder->nodes)); /* if lost, the stack begins here */
  uint64_t count = get_varint(source);
  uint32_t module = 0;
  for (uint64_t i = 0; i < count && !source->bad; i++) {
    struct trace_node node = get_frame(decoder, parent, &module);
    if (source->bad) break;
    parent = stack_table_node(decoder->table, node);
    if (!parent || !decoder_add_number(&decoder->nodes, parent)) return DECODER_NO_MEMORY;
  }
  return source->bad ? DECODER_BAD : DECODER_EVENT;
}

static enum decoder_result get_RUN(struct decoder *decoder, struct trace_run *run) {
  struct byte_source *source = &decoder->source;
  *run = (struct trace_run){.pid = get_u32(source)};
  run->parent_pid = get_u32(source);
  run->seed = get_varint(source);
  run->rate = get_real(decoder);
  run->stack_depth = get_u32(source);
  run->word_bytes = (uint8_t)get_byte(source);
  run->wall_ns = get_varint(source);
  run->monotonic_ns = get_varint(source);
  run->command = get_text(decoder);
  run->host = get_text(decoder);
  run->heap = get_text(decoder);
  run->version = get_text(decoder);
  run->context = get_added_text(decoder);
  return source->bad ? DECODER_BAD : DECODER_RUN;
}

/* ---- records ---- */

/* What to do after a record: an event to deliver, or on to the next. */
enum step { STEP_DELIVER, STEP_RUN, STEP_ON, STEP_UNKNOWN, STEP_BAD, STEP_NO_MEMORY };

static enum step step_of(enum decoder_result result) {
  return result == DECODER_EVENT ? STEP_ON : result == DECODER_NO_MEMORY ? STEP_NO_MEMORY : STEP_BAD;
}

static enum step get_record(struct decoder *decoder, unsigned number, struct trace_event *event,
                            struct trace_run *run) {
  switch (number) {
#define TRACE_EVENT(NAME, type, EVENT, number, framing, fields) \
  case TRACE_RECORD_##NAME:                                     \
    get_##NAME(decoder, &event->type);                          \
    event->kind = TRACE_##EVENT;                                \
    return STEP_DELIVER;
#include "trace/events.def"
  case TRACE_RECORD_THREAD: decoder->thread = get_u32(&decoder->source); return STEP_ON;
  case TRACE_RECORD_STACK: return step_of(get_STACK(decoder));
  case TRACE_RECORD_MODULE: return step_of(get_MODULE(decoder));
  case TRACE_RECORD_PLACE: return step_of(get_PLACE(decoder));
  case TRACE_RECORD_CHECKPOINT:
  case TRACE_RECORD_SEAL: return STEP_ON;
  case TRACE_RECORD_RUN: return get_RUN(decoder, run) == DECODER_RUN ? STEP_RUN : STEP_BAD;
  default: return STEP_UNKNOWN;
  }
}

/* A record with a length is decoded inside its own bounds, and what is left of it is skipped. */
static enum step get_bounded(struct decoder *decoder, unsigned number, struct trace_event *event,
                             struct trace_run *run) {
  uint64_t length = get_varint(&decoder->source);
  const unsigned char *body = get_bytes(&decoder->source, length);
  if (!body) return STEP_BAD;
  struct byte_source rest = decoder->source;
  decoder->source = (struct byte_source){.at = body, .end = body + length};
  enum step step = get_record(decoder, number, event, run);
  if (decoder->source.bad) step = STEP_BAD;
  if (step == STEP_UNKNOWN) {
    decoder->unknown++;
    step = STEP_ON;
  }
  decoder->source = rest;
  return step;
}

static enum step get_any(struct decoder *decoder, struct trace_event *event, struct trace_run *run) {
  unsigned kind = get_byte(&decoder->source);
  if (kind >= 128) return get_bounded(decoder, kind & 127, event, run);
  if (kind >= TRACE_RECORD_RUN) return STEP_BAD;
  enum step step = get_record(decoder, kind, event, run);
  return decoder->source.bad || step == STEP_UNKNOWN ? STEP_BAD : step;
}

/* ---- shared ---- */

void decoder_begin(struct decoder *decoder, const unsigned char *bytes, size_t count, uint64_t base_time,
                   double rate) {
  decoder->source = (struct byte_source){.at = bytes, .end = bytes + count};
  decoder->time = base_time;
  decoder->block = 0;
  decoder->thread = 0;
  decoder->rate = rate;
  decoder->nodes.count = 0;
  decoder->modules.count = 0;
  bool ready = decoder_add_number(&decoder->nodes, 0) && decoder_add_number(&decoder->modules, 0) &&
               room_for_offsets(decoder, 1);
  decoder->out_of_memory = !ready;
  if (ready) decoder->last_offset[0] = 0;
}

void decoder_resume(struct decoder *decoder, const unsigned char *bytes, const struct segment *segment,
                    double rate, bool first) {
  const struct checkpoint *checkpoint = &segment->checkpoint;
  if (first) decoder->nodes.count = decoder->modules.count = 0;
  decoder_continue(decoder, bytes + segment->begin, segment->end - segment->begin);
  decoder->time = checkpoint->time;
  decoder->block = checkpoint->block;
  decoder->thread = checkpoint->thread;
  decoder->rate = rate;
  bool ready = fill_up(&decoder->nodes, checkpoint->nodes) &&
               fill_up(&decoder->modules, checkpoint->modules) &&
               room_for_offsets(decoder, decoder->modules.count);
  decoder->out_of_memory = !ready;
  if (ready) decoder->last_offset[0] = checkpoint->address;
}

void decoder_continue(struct decoder *decoder, const unsigned char *bytes, size_t count) {
  decoder->source = (struct byte_source){.at = bytes, .end = bytes + count};
}

enum decoder_result decoder_next(struct decoder *decoder, struct trace_event *event, struct trace_run *run) {
  if (decoder->out_of_memory) return DECODER_NO_MEMORY;
  while (!decoder->source.bad) {
    if (decoder->source.at == decoder->source.end) return DECODER_END;
    switch (get_any(decoder, event, run)) {
    case STEP_DELIVER:
      if (event->kind == TRACE_CODE && !name_code(decoder, &event->code)) return DECODER_NO_MEMORY;
      return DECODER_EVENT;
    case STEP_RUN: return DECODER_RUN;
    case STEP_NO_MEMORY: return DECODER_NO_MEMORY;
    case STEP_ON: break;
    case STEP_UNKNOWN:
    case STEP_BAD: decoder->source.bad = true; break;
    }
  }
  return DECODER_BAD;
}

void decoder_destroy(struct decoder *decoder) {
  free(decoder->nodes.numbers);
  free(decoder->modules.numbers);
  free(decoder->last_offset);
}
/* SPDX-License-Identifier: MIT */
