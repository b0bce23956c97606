/* Numbers that no program has: rates that are none, and sizes, words and times beyond all memory.
 * The reader refuses the rates and takes the rest for damage; the writer writes no such number. */
#include "support/test.h"

#include "base/hash.h"
#include "base/words.h"
#include "trace/chunk.h"
#include "trace/codec.h"
#include "trace/fixture.h"
#include <math.h>
#include <unistd.h>

enum { RECORDS_MOST = 256 };

/* Writes a trace of one chunk, with a right checksum. */
static void write_chunk(const char *path, double rate, const unsigned char *records, uint32_t count) {
  struct {
    struct chunk_header header;
    unsigned char records[RECORDS_MOST];
  } file = {.header = {.version = TRACE_VERSION,
                       .word_bytes = 8,
                       .capacity_log2 = CHUNK_LOG2,
                       .header_bytes = CHUNK_HEADER_BYTES,
                       .run_id = 7,
                       .rate = rate}};
  memcpy(file.header.magic, chunk_magic, sizeof chunk_magic);
  memcpy(file.records, records, count);
  file.header.commit = commit_word(count, crc32c(chunk_header_crc(&file.header), file.records, count));
  fixture_write_file(path, &file, sizeof file.header + count);
}

static void a_rate_that_is_none_is_refused(void **state) {
  (void)state;
  const char *path = fixture_path();
  const double wrong[] = {INFINITY, -INFINITY, NAN, -1e-4, 4.9e-324, 9.9e-10, 1.0000001, 2, 1e300};
  const double right[] = {0, 1e-9, 1e-4, 1};
  struct trace_reader *reader;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    write_chunk(path, wrong[i], (const unsigned char *)"\1\1", 2);
    fixture_expect_refusal(path, WN_EFORMAT, "its sampling rate");
  }
  for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
    write_chunk(path, right[i], (const unsigned char *)"\1\1", 2);
    assert_int_equal(trace_reader_open(path, &reader), WN_OK);
    assert_true(trace_reader_run(reader)->rate == right[i]);
    trace_reader_close(reader);
  }
  unlink(path);
}

/* A sample at a time, of a size and of so many words beside the usual ones. */
static void put_sample(struct byte_sink *sink, uint64_t time, uint64_t size, uint64_t more_words,
                       uint64_t samples) {
  put_byte(sink, TRACE_RECORD_SAMPLE_FULL);
  put_varint(sink, zigzag(time));
  put_varint(sink, zigzag(1)); /* the block */
  put_varint(sink, size);
  put_varint(sink, 0); /* no stack */
  put_varint(sink, zigzag(more_words));
  put_varint(sink, samples);
  put_byte(sink, TRACE_SOURCE_NORMAL);
}

/* Writes a trace of these records behind a sound sample, and returns how many events it has; the last
 * one is told. */
static int count_events(const char *path, const unsigned char *records, const struct byte_sink *sink,
                        struct trace_event *event) {
  struct trace_reader *reader;
  int events = 0;
  write_chunk(path, 1e-3, records, (uint32_t)(sink->at - records));
  assert_int_equal(trace_reader_open(path, &reader), WN_OK);
  while (trace_reader_next(reader, event)) events++;
  assert_int_equal(trace_reader_damage(reader)->chunks_damaged, events < 2);
  assert_true(events < 2 || event->kind != TRACE_TYPE_NAME || !strcmp(event->type_name.name.bytes, "pair"));
  trace_reader_close(reader);
  return events;
}

/* How many events a trace has of a sound sample and then that one; and whether that is all of it. */
static int events_before(const char *path, uint64_t time, uint64_t size, uint64_t more_words,
                         uint64_t samples) {
  unsigned char records[RECORDS_MOST];
  struct byte_sink sink = {.at = records, .end = records + sizeof records};
  struct trace_event event;
  put_sample(&sink, 0, 8, 0, 1);
  put_sample(&sink, time, size, more_words, samples);
  return count_events(path, records, &sink, &event);
}

static void an_amount_beyond_all_memory_is_damage(void **state) {
  (void)state;
  const char *path = fixture_path();
  const uint64_t most = TRACE_AMOUNT_MOST, latest = TRACE_TIME_MOST;
  assert_int_equal(events_before(path, latest, most, 0, most), 2);
  assert_int_equal(events_before(path, 0, 8, most - malloc_words(8), 1), 2);
  assert_int_equal(events_before(path, latest + 1, 8, 0, 1), 1);
  assert_int_equal(events_before(path, UINT64_MAX, 8, 0, 1), 1);
  const uint64_t large[] = {most + 1, (uint64_t)1 << 63, UINT64_MAX};
  for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
    assert_int_equal(events_before(path, 0, large[i], 0, 1), 1);
    assert_int_equal(events_before(path, 0, 8, large[i] - malloc_words(8), 1), 1);
    assert_int_equal(events_before(path, 0, 8, 0, large[i]), 1);
  }
  unlink(path);
}

/* A program that follows a heap of its own can pass any number. */
/* A record with a length, after a sound sample. Returns how many events there are; a record that is
 * shorter than its fields is damage. */
static int events_with(unsigned record, const void *fields, size_t count) {
  unsigned char records[RECORDS_MOST];
  struct byte_sink sink = {.at = records, .end = records + sizeof records};
  struct trace_event event;
  put_sample(&sink, 0, 8, 0, 1);
  put_byte(&sink, record | 128);
  put_varint(&sink, count);
  put_bytes(&sink, fields, count);
  int events = count_events(fixture_path(), records, &sink, &event);
  unlink(fixture_path());
  return events;
}

static void a_type_record_that_is_cut_is_damage(void **state) {
  static const char type[] = "\0\0\220\3",
                    name[] = "\0\220\3\4pair"; /* time, block, type; time, type, text */
  (void)state;
  assert_int_equal(events_with(TRACE_RECORD_TYPE, type, 4), 2);
  assert_int_equal(events_with(TRACE_RECORD_TYPE_NAME, name, 8), 2);
  for (size_t count = 0; count < 4; count++) assert_int_equal(events_with(TRACE_RECORD_TYPE, type, count), 1);
  for (size_t count = 0; count < 8; count++)
    assert_int_equal(events_with(TRACE_RECORD_TYPE_NAME, name, count), 1);
}

static void a_writer_writes_no_such_amount(void **state) {
  (void)state;
  const char *path = fixture_path();
  struct trace_writer *writer = fixture_open(path, 0);
  struct trace_sample sample = {.thread = 1, .block = 1, .size = UINT64_MAX, .words = UINT64_MAX};
  sample.n_samples = UINT64_MAX;
  sample.time_ns = UINT64_MAX;
  assert_true(tree_write_sample(writer, &sample));
  trace_writer_close(writer);
  struct trace_reader *reader;
  struct trace_event event;
  assert_int_equal(trace_reader_open(path, &reader), WN_OK);
  while (trace_reader_next(reader, &event) && event.kind != TRACE_SAMPLE) continue;
  assert_int_equal(event.kind, TRACE_SAMPLE);
  assert_true(event.sample.size == TRACE_AMOUNT_MOST && event.sample.words == TRACE_AMOUNT_MOST);
  assert_true(event.sample.n_samples == TRACE_AMOUNT_MOST && event.sample.time_ns == TRACE_TIME_MOST);
  assert_int_equal(trace_reader_damage(reader)->chunks_damaged, 0);
  trace_reader_close(reader);
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_rate_that_is_none_is_refused),
      cmocka_unit_test(an_amount_beyond_all_memory_is_damage),
      cmocka_unit_test(a_type_record_that_is_cut_is_damage),
      cmocka_unit_test(a_writer_writes_no_such_amount),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
