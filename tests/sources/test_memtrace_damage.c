/* Memtrace files that are cut, or have wrong bytes: whatever the bytes are, reading ends, and what is
 * told is consistent. Where a whole packet is missing, all else is as it was written. */
#include "sources/memtrace_case.h"
#include "support/runs.h"

#include "sources/traces/memtrace_trace.h"
#include <math.h>

enum { FLUSH_EACH = 6, FLUSHES = 4 };

/* A file of many small packets, of two domains where the version has them. */
static void make_small(struct made *made, unsigned version) {
  unsigned domains = version < 3 ? 1 : 2;
  made_begin(made, version, domains, 5);
  for (size_t i = 0; i < FLUSHES; i++) {
    for (size_t j = 0; j < FLUSH_EACH; j++) {
      unsigned domain = (unsigned)made_random(made, domains);
      made->now_us += 1 + made_random(made, 50);
      made_vary_stack(made, domain, 40);
      uint64_t block = made_allocate(made, domain, 1 + (int64_t)made_random(made, 30), 1, WRITER_MINOR,
                                     made->stack[domain], made->depth[domain]);
      made->now_us++;
      if (j % 3 == 0) made_change(made, domain, MEMTRACE_COLLECTION, block);
    }
    for (unsigned domain = 0; domain < domains; domain++)
      writer_flush(&made->writer, made->domains[domain], made->now_us);
  }
  made_write(made);
}

/* Reads all as a source, and fails if the events contradict each other. The number of samples. */
static size_t read_any(const void *bytes, size_t count, struct trace_damage *damage) {
  struct source *source;
  struct trace_event event;
  struct trace_place place;
  size_t samples = 0;
  if (memtrace_trace_open(case_file(bytes, count), &source)) return 0;
  uint64_t last_ns = 0;
  while (source_next(source, &event)) {
    assert_true(event.at.time_ns >= last_ns);
    last_ns = event.at.time_ns;
    samples += event.kind == TRACE_SAMPLE;
    if (event.kind == TRACE_SAMPLE) assert_true(event.sample.stack <= source_stack_count(source));
  }
  for (uint32_t i = 1; i <= source_stack_count(source); i++) {
    struct trace_node node = source_stack(source, i);
    assert_true(node.parent < i && node.module <= source_module_count(source));
    if (node.module) assert_true(source_place(source, node.module, node.offset, &place));
  }
  *damage = *source_damage(source);
  assert_true(damage->bytes_skipped <= count);
  assert_false(damage->out_of_memory);
  source_close(source);
  return samples;
}

static void a_file_that_is_cut_anywhere_is_read_so_far(void **state) {
  (void)state;
  for (unsigned version = 1; version <= 3; version += 2) {
    struct made made;
    struct trace_damage damage;
    make_small(&made, version);
    size_t last = 0, all = read_any(made.writer.file.bytes, made.writer.file.count, &damage);
    assert_int_equal(all, FLUSHES * FLUSH_EACH);
    for (size_t count = 0; count <= made.writer.file.count; count++) {
      size_t samples = read_any(made.writer.file.bytes, count, &damage);
      assert_true(samples >= last && samples <= all);
      last = samples;
    }
    assert_int_equal(last, all);
    made_end(&made);
  }
}

static void any_wrong_byte_is_survived(void **state) {
  (void)state;
  struct made made;
  struct trace_damage damage;
  make_small(&made, 3);
  unsigned char *bytes = made.writer.file.bytes;
  size_t first = 150; /* of the packets behind the one that describes the run */
  for (size_t at = 0; at < made.writer.file.count; at++) {
    unsigned char was = bytes[at];
    bytes[at] = (unsigned char)(at % 2 ? was ^ 1u << made_random(&made, 8) : made_random(&made, 256));
    size_t samples = read_any(bytes, made.writer.file.count, &damage);
    if (at > first) assert_true(samples + 4 * FLUSH_EACH + FLUSH_EACH > FLUSHES * FLUSH_EACH);
    bytes[at] = was;
  }
  made_end(&made);
}

static void much_damage_is_survived(void **state) {
  (void)state;
  struct made made;
  struct trace_damage damage;
  made_begin(&made, 3, 3, 9);
  made_random_events(&made, 3, 2000, 1000);
  made_write(&made);
  size_t count = made.writer.file.count;
  unsigned char *bytes = malloc(count);
  assert_non_null(bytes);
  for (unsigned run = 0; run < (unsigned)runs_of(100); run++) {
    memcpy(bytes, made.writer.file.bytes, count);
    for (unsigned i = 0; i < 1 + run / 10; i++) {
      size_t at = made_random(&made, count), length = made_random(&made, 200);
      for (size_t j = at; j < at + length && j < count; j++)
        bytes[j] = (unsigned char)(run % 2 ? made_random(&made, 256) : 0);
    }
    read_any(bytes, count - made_random(&made, 100), &damage);
  }
  free(bytes);
  made_end(&made);
}

/* ---- whole packets ---- */

/* The offsets of all packets; their number. */
static size_t find_packets(const struct made *made, size_t *offsets, size_t most) {
  size_t count = 0;
  struct memtrace_header header;
  for (size_t at = 0; at < made->writer.file.count && count < most; at += header.bytes) {
    assert_true(memtrace_header_read(made->writer.file.bytes + at, made->writer.file.count - at, &header));
    offsets[count++] = at;
  }
  return count;
}

static const struct written *find_written(const struct made *made, const struct memtrace_event *event) {
  for (size_t i = 0; i < made->count; i++)
    if (made->events[i].kind == event->kind && made->events[i].block == event->block) return &made->events[i];
  return NULL;
}

/* Fails unless all events but a packet's are read, and all codes that are not lost are right. */
static void assert_rest_is_read(const struct made *made, size_t missing) {
  struct memtrace_reader *reader = case_open(made->writer.file.bytes, made->writer.file.count);
  struct memtrace_event event;
  size_t seen = 0;
  for (; memtrace_reader_next(reader, &event); seen++) {
    const struct written *written = find_written(made, &event);
    assert_non_null(written);
    assert_int_equal(event.time_us, written->time_us);
    if (event.kind != MEMTRACE_ALLOCATION) continue;
    assert_int_equal(event.length, written->length);
    assert_int_equal(event.stack.depth, written->depth);
    for (size_t i = 0; i < event.stack.depth; i++)
      if (event.stack.codes[i] != MEMTRACE_LOST) assert_int_equal(event.stack.codes[i], written->codes[i]);
  }
  assert_int_equal(seen + missing, made->count);
  assert_true(memtrace_reader_loss(reader)->packets_damaged > 0);
  memtrace_reader_close(reader);
}

/* The events between two packets of the file, counted by their blocks and times. */
static size_t events_of(const struct made *made, const struct memtrace_header *header) {
  size_t count = 0;
  for (size_t i = 0; i < made->count; i++) {
    const struct written *written = &made->events[i];
    uint64_t time_us = written->time_us + CASE_BEGIN_US;
    count += written->domain == header->domain && time_us > header->begin_us && time_us <= header->end_us;
  }
  return count;
}

static void a_lost_header_loses_its_packet_alone(void **state) {
  static size_t offsets[4096];
  (void)state;
  struct made made;
  make_small(&made, 3);
  size_t count = find_packets(&made, offsets, 4096), tried = 0;
  assert_true(count > FLUSHES);
  for (size_t i = 2; i + 3 < count; i++) {
    struct memtrace_header header;
    unsigned char *bytes = made.writer.file.bytes + offsets[i];
    assert_true(memtrace_header_read(bytes, offsets[i + 1] - offsets[i], &header));
    if (header.first_block == header.end_block) continue; /* locations, or nothing */
    bytes[0] ^= 1;
    assert_rest_is_read(&made, events_of(&made, &header));
    bytes[0] ^= 1;
    tried++;
  }
  assert_true(tried >= FLUSHES);
  made_end(&made);
}

static void names_are_right_or_unknown_where_a_packet_is_lost(void **state) {
  static size_t offsets[4096];
  const struct writer_place *places;
  (void)state;
  struct made made;
  made_begin(&made, 3, 1, 3);
  for (uint64_t code = 3; code < 6000; code++) {
    made.now_us++;
    made_allocate(&made, 0, 2, 1, WRITER_MINOR, &code, 1);
  }
  made_write(&made);
  size_t count = find_packets(&made, offsets, 4096), named = 0, unnamed = 0;
  made.writer.file.bytes[offsets[count / 4]] ^= 1;
  struct memtrace_reader *reader = case_open(made.writer.file.bytes, made.writer.file.count);
  const struct memtrace_names *names = memtrace_reader_names(reader);
  for (uint64_t code = 3; code < 6000; code++) {
    struct memtrace_locations locations = memtrace_locations_of(names, code);
    codes_places(code, &places);
    for (uint32_t i = 0; i < locations.count; i++) {
      const char *file = memtrace_text(names, locations.list[i].file),
                 *function = memtrace_text(names, locations.list[i].function);
      if (*file) assert_string_equal(file, places[i].file), named++;
      if (*function) assert_string_equal(function, places[i].function);
      unnamed += !*file;
    }
  }
  assert_true(named > 1000 && unnamed > 0);
  memtrace_reader_close(reader);
  made_end(&made);
}

static void a_damaged_first_packet_is_refused(void **state) {
  (void)state;
  struct made made;
  struct memtrace_reader *reader;
  make_small(&made, 3);
  made.writer.file.bytes[28] = 9; /* the version */
  assert_int_equal(memtrace_reader_open(case_file(made.writer.file.bytes, made.writer.file.count), &reader),
                   WN_EFORMAT);
  assert_non_null(strstr(wn_last_error(), "version 9"));
  made.writer.file.bytes[28] = 3;
  const double wrong[] = {0, 4.9e-324, 9e-10, 1.5, INFINITY, NAN, -1e-4};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    memcpy(made.writer.file.bytes + 72, &wrong[i], 8); /* the rate */
    assert_int_equal(memtrace_reader_open(case_file(made.writer.file.bytes, made.writer.file.count), &reader),
                     WN_EFORMAT);
    assert_non_null(strstr(wn_last_error(), "first packet"));
  }
  made_end(&made);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_file_that_is_cut_anywhere_is_read_so_far),
      cmocka_unit_test(any_wrong_byte_is_survived),
      cmocka_unit_test(much_damage_is_survived),
      cmocka_unit_test(a_lost_header_loses_its_packet_alone),
      cmocka_unit_test(names_are_right_or_unknown_where_a_packet_is_lost),
      cmocka_unit_test(a_damaged_first_packet_is_refused),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
