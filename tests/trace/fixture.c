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

const struct trace_stack_source fixture_source = {
    .node = source_node, .module = source_module, .place = source_place};

static uint64_t any_width(struct random *random) { return random_bits(random) >> (random_bits(random) & 63); }

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
  if (unusual & 16) sample.n_samples = any_width(random);
  if (unusual == 1) sample.words = any_width(random);
  if (unusual == 2) sample.source = TRACE_SOURCE_MARSHAL;
  sample.grown = unusual == 3;
  sample.major = unusual == 4;
  if (sample.grown) sample.previous_size = any_width(random);
  return sample;
}

static bool same_module(const struct trace_module *read, uint32_t written) {
  struct trace_module module = {0};
  if (written) fixture_module(written, &module);
  return read->base == module.base && read->bias == module.bias && read->size == module.size &&
         read->generation == module.generation && read->build_id_bytes == module.build_id_bytes &&
         !memcmp(read->build_id, module.build_id, sizeof module.build_id) &&
         read->path.length == module.path.length &&
         !memcmp(read->path.bytes, written ? module.path.bytes : "", module.path.length + 1);
}

static bool same_text(const struct trace_text *a, const struct trace_text *b) {
  return a->length == b->length && !memcmp(a->bytes, b->bytes, a->length) && !a->bytes[a->length];
}

static bool same_place(const struct trace_place *read, uint32_t module, uint64_t offset) {
  struct trace_place place;
  if (!fixture_place(module, offset, &place)) return !read;
  return read && read->line == place.line && same_text(&read->function, &place.function) &&
         same_text(&read->file, &place.file);
}

/* What a collected heap tells of itself. */
static struct trace_event any_of_heap(struct random *random, struct trace_at at, uint64_t block) {
  struct trace_event event = {.at = at};
  switch (random_bits(random) % 4) {
  case 0:
    event.kind = TRACE_PROMOTE;
    event.promote.block = block;
    break;
  case 1:
    event.kind = TRACE_COLLECTION;
    event.collection.kind = (uint8_t)random_bits(random);
    for (uint64_t *field = &event.collection.ns; field <= &event.collection.domains; field++)
      *field = any_width(random);
    break;
  case 2:
    event.kind = TRACE_PAUSE;
    event.pause.domain = any_width(random);
    event.pause.kind = (uint8_t)random_bits(random);
    for (uint64_t *field = &event.pause.ns; field <= &event.pause.total_ns; field++)
      *field = any_width(random);
    break;
  default:
    event.kind = TRACE_DOMAIN;
    event.domain.domain = any_width(random);
    event.domain.what = (uint8_t)random_bits(random);
  }
  return event;
}

static bool same_collection(const struct trace_collection *read, const struct trace_collection *written) {
  return read->kind == written->kind &&
         !memcmp(&read->ns, &written->ns, sizeof *read - offsetof(struct trace_collection, ns));
}

static bool same_pause(const struct trace_pause *read, const struct trace_pause *written) {
  return read->domain == written->domain && read->kind == written->kind && read->ns == written->ns &&
         read->count == written->count && read->total_ns == written->total_ns;
}

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
                              .line = (uint32_t)(offset % 5 ? hash_mix(offset) >> 40 : 0)};
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
  if (trace_writer_open(&options, &run, &fixture_source, &writer)) fail_msg("%s", wn_last_error());
  return writer;
}

struct trace_event fixture_event(struct random *random, uint32_t thread, uint64_t time, uint64_t *block,
                                 uint32_t nodes) {
  struct trace_event event = {.kind = TRACE_SAMPLE};
  struct trace_at at = {.time_ns = time, .thread = thread};
  event.at = at;
  uint64_t back = any_width(random) % (*block + 1);
  switch (random_bits(random) % 40) {
  case 0:
    event.kind = TRACE_UNMAP;
    event.unmap.module = (uint32_t)(random_bits(random) % (FIXTURE_MODULES + 1));
    break;
  case 1:
    event.kind = TRACE_THREAD_NAME;
    event.thread_name.name = trace_text_of(names[random_bits(random) % 3]);
    break;
  case 2:
    event.kind = TRACE_MEMORY;
    event.memory.rss_bytes = any_width(random);
    event.memory.private_bytes = any_width(random);
    event.memory.peak_bytes = any_width(random);
    event.memory.complete = random_bits(random) % 2;
    event.memory.own_bytes = any_width(random);
    break;
  case 3:
    event.kind = TRACE_LOSS;
    event.loss.count = any_width(random) >> 20;
    event.loss.reason = TRACE_LOSS_CALLER;
    break;
  case 4:
    event.kind = TRACE_RESIZE;
    event.resize.block = *block - back;
    event.resize.size = any_width(random);
    event.resize.words = any_width(random);
    event.resize.stack = (uint32_t)(random_bits(random) % nodes);
    break;
  case 5:
    event.kind = TRACE_EXEC;
    event.exec.path = trace_text_of(names[random_bits(random) % 3]);
    break;
  case 8:
    event.kind = TRACE_TITLE;
    event.title.title = trace_text_of(names[random_bits(random) % 3]);
    event.title.name = trace_text_of(names[random_bits(random) % 3]);
    break;
  case 9:
    event.kind = TRACE_UNRECORDED;
    event.unrecorded.pid = any_width(random);
    event.unrecorded.reason = (uint8_t)random_bits(random);
    event.unrecorded.path = trace_text_of(names[random_bits(random) % 3]);
    break;
  case 10:
    event.kind = TRACE_MAP;
    event.map.mapping = any_width(random);
    event.map.kind = (uint8_t)random_bits(random);
    event.map.bytes = any_width(random);
    event.map.stack = (uint32_t)(random_bits(random) % nodes);
    break;
  case 11:
    event.kind = random_bits(random) % 2 ? TRACE_MAP_SIZE : TRACE_MAP_TOUCHED;
    event.map_size.mapping = any_width(random); /* both have the same members */
    event.map_size.bytes = any_width(random);
    break;
  case 6:
  case 7: return any_of_heap(random, at, *block - back);
  default:
    event.kind = random_bits(random) % 2 ? TRACE_SAMPLE : TRACE_FREE;
    if (event.kind == TRACE_SAMPLE) event.sample = any_sample(random, at, block, nodes);
    if (event.kind == TRACE_FREE) event.free.block = *block - back;
  }
  return event;
}

bool fixture_write(struct trace_writer *writer, const struct trace_event *event) {
  switch (event->kind) {
  case TRACE_SAMPLE: return trace_write_sample(writer, &event->sample);
  case TRACE_FREE: return trace_write_free(writer, &event->free);
  case TRACE_RESIZE: return trace_write_resize(writer, &event->resize);
  case TRACE_UNMAP: return trace_write_unmap(writer, &event->unmap);
  case TRACE_THREAD_NAME: return trace_write_thread_name(writer, &event->thread_name);
  case TRACE_MEMORY: return trace_write_memory(writer, &event->memory);
  case TRACE_LOSS: return trace_write_loss(writer, &event->loss);
  case TRACE_END: return trace_write_end(writer, &event->end);
  case TRACE_PROMOTE: return trace_write_promote(writer, &event->promote);
  case TRACE_COLLECTION: return trace_write_collection(writer, &event->collection);
  case TRACE_PAUSE: return trace_write_pause(writer, &event->pause);
  case TRACE_DOMAIN: return trace_write_domain(writer, &event->domain);
  case TRACE_TITLE: return trace_write_title(writer, &event->title);
  case TRACE_UNRECORDED: return trace_write_unrecorded(writer, &event->unrecorded);
  case TRACE_MAP: return trace_write_map(writer, &event->map);
  case TRACE_MAP_SIZE: return trace_write_map_size(writer, &event->map_size);
  case TRACE_MAP_TOUCHED: return trace_write_map_touched(writer, &event->map_touched);
  case TRACE_EXEC: { /* that fails: only this record stays of it */
    unsigned number = trace_write_exec(writer, &event->exec);
    trace_exec_failed(writer, number);
    return number;
  }
  }
  return false;
}

bool fixture_same_stack(struct trace_reader *reader, uint32_t read, uint32_t written) {
  while (read && written) {
    uint32_t module;
    uint64_t offset;
    fixture_node(written, &written, &module, &offset);
    struct trace_node node = trace_reader_node(reader, read);
    if (node.offset != offset || !same_module(trace_reader_module(reader, node.module), module)) return false;
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
  const struct trace_sample *a = &read->sample, *b = &written->sample;
  switch (read->kind) {
  case TRACE_SAMPLE:
    return a->block == b->block && a->size == b->size && a->words == b->words &&
           a->n_samples == b->n_samples && a->source == b->source && a->grown == b->grown &&
           a->major == b->major && a->previous_size == b->previous_size &&
           fixture_same_stack(reader, a->stack, b->stack);
  case TRACE_FREE: return read->free.block == written->free.block;
  case TRACE_RESIZE:
    return read->resize.block == written->resize.block && read->resize.size == written->resize.size &&
           read->resize.words == written->resize.words &&
           fixture_same_stack(reader, read->resize.stack, written->resize.stack);
  case TRACE_UNMAP:
    return same_module(trace_reader_module(reader, read->unmap.module), written->unmap.module);
  case TRACE_THREAD_NAME: return !strcmp(read->thread_name.name.bytes, written->thread_name.name.bytes);
  case TRACE_MEMORY:
    return read->memory.rss_bytes == written->memory.rss_bytes &&
           read->memory.private_bytes == written->memory.private_bytes &&
           read->memory.peak_bytes == written->memory.peak_bytes &&
           read->memory.complete == written->memory.complete &&
           read->memory.own_bytes == written->memory.own_bytes;
  case TRACE_LOSS:
    return read->loss.count == written->loss.count && read->loss.reason == written->loss.reason;
  case TRACE_END:
    return read->end.kind == written->end.kind && read->end.code == written->end.code &&
           read->end.peak_bytes == written->end.peak_bytes;
  case TRACE_PROMOTE: return read->promote.block == written->promote.block;
  case TRACE_COLLECTION: return same_collection(&read->collection, &written->collection);
  case TRACE_PAUSE: return same_pause(&read->pause, &written->pause);
  case TRACE_DOMAIN:
    return read->domain.domain == written->domain.domain && read->domain.what == written->domain.what;
  case TRACE_TITLE:
    return !strcmp(read->title.title.bytes, written->title.title.bytes) &&
           !strcmp(read->title.name.bytes, written->title.name.bytes);
  case TRACE_UNRECORDED:
    return read->unrecorded.pid == written->unrecorded.pid &&
           read->unrecorded.reason == written->unrecorded.reason &&
           !strcmp(read->unrecorded.path.bytes, written->unrecorded.path.bytes);
  case TRACE_MAP:
    return read->map.mapping == written->map.mapping && read->map.kind == written->map.kind &&
           read->map.bytes == written->map.bytes &&
           fixture_same_stack(reader, read->map.stack, written->map.stack);
  case TRACE_MAP_SIZE:
  case TRACE_MAP_TOUCHED:
    return read->map_size.mapping == written->map_size.mapping &&
           read->map_size.bytes == written->map_size.bytes;
  case TRACE_EXEC: return !strcmp(read->exec.path.bytes, written->exec.path.bytes);
  }
  return false;
}
/* SPDX-License-Identifier: MIT */
