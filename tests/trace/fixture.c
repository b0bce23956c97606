/* A made-up program for the tests of traces. */
#include "trace/fixture.h"
#include "support/test.h"

#include "base/hash.h"
#include "base/words.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void source_node(void *context, uint32_t node, uint32_t *parent, uint32_t *module, uint64_t *offset) {
  (void)context;
  fixture_node(node, parent, module, offset);
}

static void source_module(void *context, uint32_t module, struct trace_module *out) {
  (void)context;
  fixture_module(module, out);
}

static bool source_place(void *context, uint32_t module, uint64_t offset, struct trace_place *out) {
  (void)context;
  return fixture_place(module, offset, out);
}

const struct tree_source fixture_source = {
    .node = source_node, .module = source_module, .place = source_place};

static uint64_t any_width(struct random *random) { return random_bits(random) >> (random_bits(random) & 63); }
static uint64_t any_amount(struct random *random) { return any_width(random) % (TRACE_AMOUNT_MOST + 1); }

static const char *const names[] = {"", "worker", "a thread with a long name"};

static struct trace_sample any_sample(struct random *random, struct trace_at at, uint64_t *block,
                                      uint32_t nodes) {
  struct trace_sample sample = {.time_ns = at.time_ns, .thread = at.thread, .n_samples = 1};
  *block += random_bits(random) % 4 ? 1 : 2;
  sample.block = *block;
  sample.size = any_width(random) >> 16;
  sample.words = malloc_words(sample.size);
  sample.stack = (uint32_t)(random_bits(random) % nodes);
  unsigned unusual = (unsigned)(random_bits(random) % 32);
  if (unusual & 16) sample.n_samples = any_amount(random);
  if (unusual == 1) sample.words = any_amount(random);
  if (unusual == 2) sample.source = TRACE_SOURCE_MARSHAL;
  sample.grown = unusual == 3;
  sample.major = unusual == 4;
  sample.rate =
      random_bits(random) % 16 ? fixture_run().rate : 1.0 / (double)(1 + random_bits(random) % 1000);
  if (sample.grown) sample.previous_size = any_amount(random);
  return sample;
}

static bool same_modules(const struct trace_module *read, uint32_t written) {
  struct trace_module module = {0};
  if (written) fixture_module(written, &module);
  return read->base == module.base && read->bias == module.bias && read->size == module.size &&
         read->generation == module.generation && read->build_id_bytes == module.build_id_bytes &&
         !memcmp(read->build_id, module.build_id, sizeof module.build_id) &&
         read->path.length == module.path.length &&
         !memcmp(read->path.bytes, written ? module.path.bytes : "", module.path.length + 1);
}

static bool same_texts(const struct trace_text *a, const struct trace_text *b) {
  return a->length == b->length && !memcmp(a->bytes, b->bytes, a->length) && !a->bytes[a->length];
}

static bool same_place(const struct trace_place *read, uint32_t module, uint64_t offset) {
  struct trace_place place;
  if (!fixture_place(module, offset, &place)) return !read;
  return read && read->line == place.line && read->first_column == place.first_column &&
         read->last_column == place.last_column && same_texts(&read->function, &place.function) &&
         same_texts(&read->file, &place.file) && read->address == place.address &&
         read->since_ns == place.since_ns;
}

/* ---- one function for each record of events.def: made-up contents ---- */

struct drawing {
  struct random *random;
  uint64_t block; /* the last one */
  uint32_t nodes;
};

static uint64_t draw_unsigned(struct drawing *drawing) { return any_width(drawing->random); }
static uint8_t draw_small(struct drawing *drawing) { return (uint8_t)random_bits(drawing->random); }
static int32_t draw_signed(struct drawing *drawing) { return (int32_t)random_bits(drawing->random); }
static struct trace_text draw_text(struct drawing *drawing) {
  return trace_text_of(names[random_bits(drawing->random) % 3]);
}
static uint32_t draw_stack(struct drawing *drawing) {
  return (uint32_t)(random_bits(drawing->random) % drawing->nodes);
}
static uint32_t draw_module(struct drawing *drawing) {
  return (uint32_t)(random_bits(drawing->random) % (FIXTURE_MODULES + 1));
}
static uint64_t draw_known_block(struct drawing *drawing) {
  return drawing->block - any_width(drawing->random) % (drawing->block + 1);
}
static uint64_t draw_amount(struct drawing *drawing) {
  return draw_unsigned(drawing) % (TRACE_AMOUNT_MOST + 1);
}
static double draw_rate(struct drawing *drawing) { return 1 / (double)(1 + draw_unsigned(drawing) % 1000); }
#define draw_added                  draw_unsigned
#define draw_added_amount           draw_amount
#define draw_later                  draw_small
#define draw_words                  draw_amount
#define draw_usual_words            draw_unsigned
#define draw_block                  draw_unsigned
#define draw_one(drawing)           1
#define draw_yes(drawing)           true
#define draw_chunk_rate(drawing)    1e-4
#define draw_added_rate             draw_rate
#define draw_trial_rate             draw_rate
#define TRACE_FIELD(coding, member) event->member = draw_##coding(drawing);
#define TRACE_EVENT(NAME, type, EVENT, number, framing, fields)                \
  static void draw_##NAME(struct drawing *drawing, struct trace_event *made) { \
    struct trace_##type *event = &made->type;                                  \
    fields                                                                     \
  }
#include "trace/events.def"
#undef TRACE_FIELD

static const struct {
  enum trace_kind kind;
  void (*draw)(struct drawing *drawing, struct trace_event *event);
} records[] = {
#define TRACE_EVENT(NAME, type, EVENT, number, framing, fields) {TRACE_##EVENT, draw_##NAME},
#include "trace/events.def"
};
enum { RECORDS = sizeof records / sizeof *records };

/* ---- and whether what was read is what was written ---- */

#define SAME_VALUE(member)          (read->member == written->member)
#define same_unsigned(member)       SAME_VALUE(member)
#define same_amount(member)         SAME_VALUE(member)
#define same_added(member)          SAME_VALUE(member)
#define same_added_amount(member)   SAME_VALUE(member)
#define same_small(member)          SAME_VALUE(member)
#define same_later(member)          SAME_VALUE(member)
#define same_signed(member)         SAME_VALUE(member)
#define same_block(member)          SAME_VALUE(member)
#define same_known_block(member)    SAME_VALUE(member)
#define same_words(member)          SAME_VALUE(member)
#define same_usual_words(member)    SAME_VALUE(member)
#define same_one(member)            SAME_VALUE(member)
#define same_yes(member)            SAME_VALUE(member)
#define same_rate(member)           SAME_VALUE(member)
#define same_trial_rate(member)     SAME_VALUE(member)
#define same_chunk_rate(member)     (!(written->member > 0) || SAME_VALUE(member))
#define same_added_rate(member)     (!(written->member > 0) || SAME_VALUE(member))
#define same_text(member)           same_texts(&read->member, &written->member)
#define same_stack(member)          fixture_same_stack(reader, read->member, written->member)
#define same_module(member)         same_modules(trace_reader_module(reader, read->member), written->member)
#define TRACE_FIELD(coding, member) &&same_##coding(member)
#define TRACE_EVENT(NAME, type, EVENT, number, framing, fields)                         \
  static bool same_##NAME(struct trace_reader *reader, const struct trace_##type *read, \
                          const struct trace_##type *written) {                         \
    (void)reader;                                                                       \
    return true fields;                                                                 \
  }
#include "trace/events.def"
#undef TRACE_FIELD

/* ---- shared ---- */

void fixture_node(uint32_t node, uint32_t *parent, uint32_t *module, uint64_t *offset) {
  *parent = (node - 1) / 3;
  *module = (uint32_t)(hash_mix(node) % (FIXTURE_MODULES + 1));
  *offset = *module ? hash_mix(node) >> 44 : hash_mix(node); /* a megabyte of code in each */
  if (*module == FIXTURE_LANGUAGE) *offset &= 4095;
}

bool fixture_place(uint32_t module, uint64_t offset, struct trace_place *out) {
  static const char *const files[] = {"", "main.lang", "/usr/lib/lang/a library.lang"};
  static _Thread_local char function[32];
  if (module != FIXTURE_LANGUAGE || offset % 16 == 15) return false; /* some have no name */
  snprintf(function, sizeof function, "function %d", (int)offset);
  if (offset % 16 == 0) function[0] = 0;
  *out = (struct trace_place){.function = trace_text_of(function),
                              .file = trace_text_of(files[offset % 3]),
                              .line = (uint32_t)(offset % 5 ? hash_mix(offset) >> 40 : 0),
                              .first_column = (uint32_t)(offset % 3 ? offset % 200 : 0),
                              .last_column = (uint32_t)(offset % 3 ? offset % 300 : 0),
                              .address = offset % 7 ? 0 : 0x7e0000000000u + offset,
                              .since_ns = offset % 14 ? 0 : offset * 1000};
  return true;
}

void fixture_module(uint32_t module, struct trace_module *out) {
  static const char *const paths[] = {"/usr/bin/program", "/usr/lib/libc.so.6", ""};
  *out = (struct trace_module){.base = 0x7f0000000000u + module * 0x200000u, .size = 0x100000u * module};
  out->bias = out->base - (module % 2 ? 0x400000u : 0);
  out->generation = module % 4;
  out->build_id_bytes = (uint8_t)(module % 3 ? 20 : module % 2 ? 32 : 0);
  memset(out->build_id, (int)(17 * module), out->build_id_bytes);
  out->path = trace_text_of(paths[module % 3]);
  if (module != FIXTURE_LANGUAGE) return;
  *out = (struct trace_module){.base = TRACE_LANGUAGE_BASE,
                               .bias = TRACE_LANGUAGE_BASE,
                               .size = 1 << 24,
                               .path = trace_text_of("[lang]")};
}

struct trace_run fixture_run(void) {
  static const char command[] = "program\0--option\0an argument";
  return (struct trace_run){.command = {.bytes = command, .length = sizeof command},
                            .host = trace_text_of("host.example"),
                            .heap = trace_text_of("malloc"),
                            .version = trace_text_of("0.1.0"),
                            .pid = 4242,
                            .parent_pid = 4241,
                            .seed = 0x123456789abcdef0u,
                            .rate = 1e-4,
                            .stack_depth = 128,
                            .word_bytes = 8,
                            .wall_ns = 1700000000123456789u,
                            .monotonic_ns = 987654321};
}

const char *fixture_path(void) {
  static char path[256];
  const char *folder = getenv("TMPDIR");
  snprintf(path, sizeof path, "%s/test_%d.trace", folder ? folder : ".", (int)getpid());
  return path;
}

void fixture_write_file(const char *path, const void *bytes, size_t count) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  if (count) assert_int_equal(fwrite(bytes, 1, count, file), count);
  assert_int_equal(fclose(file), 0);
}

void fixture_expect_refusal(const char *path, wn_status status, const char *words) {
  struct trace_reader *reader;
  assert_int_equal(trace_reader_open(path, &reader), status);
  if (!strstr(wn_last_error(), words)) fail_msg("\"%s\" lacks \"%s\"", wn_last_error(), words);
}

struct trace_writer *fixture_open(const char *path, uint64_t limit_bytes) {
  struct trace_options options = {.path = path, .limit_bytes = limit_bytes};
  struct trace_run run = fixture_run();
  struct trace_writer *writer = NULL;
  if (tree_writer_open(&options, &run, &fixture_source, &writer)) fail_msg("%s", wn_last_error());
  return writer;
}

/* Most are samples and frees; one in four is of any other kind. */
struct trace_event fixture_event(struct random *random, uint32_t thread, uint64_t time, uint64_t *block,
                                 uint32_t nodes) {
  struct trace_at at = {.time_ns = time, .thread = thread};
  struct trace_event event = {.at = at};
  struct drawing drawing = {random, *block, nodes};
  size_t record = random_bits(random) % (4 * RECORDS);
  event.kind = record < RECORDS ? records[record].kind : random_bits(random) % 2 ? TRACE_SAMPLE : TRACE_FREE;
  if (event.kind == TRACE_END) event.kind = TRACE_SAMPLE; /* that comes last */
  switch (event.kind) {
  case TRACE_SAMPLE: event.sample = any_sample(random, at, block, nodes); break;
  case TRACE_LOSS:
    event.loss.count = any_width(random) >> 20;
    event.loss.reason = TRACE_LOSS_CALLER;
    break;
  case TRACE_FREE: event.free.block = draw_known_block(&drawing); break;
  default: records[record].draw(&drawing, &event);
  }
  return event;
}

/* One that fails: only the record stays of it. */
static bool write_exec(struct trace_writer *writer, const struct trace_exec *exec) {
  unsigned number = trace_write_exec(writer, exec);
  trace_exec_failed(writer, number);
  return number;
}

bool fixture_write(struct trace_writer *writer, const struct trace_event *event) {
  switch (event->kind) {
  case TRACE_SAMPLE: return tree_write_sample(writer, &event->sample);
  case TRACE_LOSS: return trace_write_loss(writer, &event->loss);
  case TRACE_END: return trace_write_end(writer, &event->end);
  case TRACE_EXEC: return write_exec(writer, &event->exec);
#define WRITES(type, EVENT, write) \
  case TRACE_##EVENT:              \
    return write(writer, &event->type);
#define WRITER_PLAIN(type, EVENT) WRITES(type, EVENT, trace_write_##type)
#define WRITER_STACK(type, EVENT) WRITES(type, EVENT, tree_write_##type)
#define WRITER_OWN(type, EVENT)
#define TRACE_STRUCT(type, EVENT, WRITER, members) WRITER_##WRITER(type, EVENT)
#include "trace/events.def"
  }
  return false;
}

bool fixture_same_stack(struct trace_reader *reader, uint32_t read, uint32_t written) {
  while (read && written) {
    uint32_t module;
    uint64_t offset;
    fixture_node(written, &written, &module, &offset);
    struct trace_node node = trace_reader_node(reader, read);
    if (node.offset != offset || !same_modules(trace_reader_module(reader, node.module), module))
      return false;
    if (!same_place(trace_reader_place(reader, node.module, offset), module, offset)) return false;
    read = node.parent;
  }
  return read == written;
}

bool fixture_same_known_stack(struct trace_reader *reader, uint32_t *known, uint32_t read, uint32_t written) {
  if (read && known[written] == read) return true;
  known[written] = read;
  return fixture_same_stack(reader, read, written);
}

bool fixture_same(struct trace_reader *reader, const struct trace_event *read,
                  const struct trace_event *written) {
  if (read->kind != written->kind || read->at.time_ns != written->at.time_ns ||
      read->at.thread != written->at.thread)
    return false;
  bool same = true;
#define TRACE_EVENT(NAME, type, EVENT, number, framing, fields) \
  same = same && (read->kind != TRACE_##EVENT || same_##NAME(reader, &read->type, &written->type));
#include "trace/events.def"
  return same;
}
/* SPDX-License-Identifier: MIT */
