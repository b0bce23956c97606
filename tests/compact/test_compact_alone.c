/* A trace that was copied without its history, or with one that a later compaction has replaced,
 * is known to lack what was taken over. */
#include "support/test.h"

#include "base/words.h"
#include "compact/compact.h"
#include "compact/made_trace.h"
#include "trace/chunk.h"
#include "trace/history.h"
#include "trace/reader.h"
#include <stdio.h>
#include <unistd.h>

enum { RECORDS = TINY ? 4000 : 40000 };
#define BOUND ((uint64_t)64 << 20) /* nothing is left out */

static char path[64], history[80], older[80];
static uint64_t now;

/* Each block has a type, which is found again where its sample is. */
enum { TYPES = 3 };

static void write_types(struct trace_writer *writer) {
  static const char *const names[TYPES] = {"pair", "closure", "string"};
  for (uint64_t type = 0; type < TYPES; type++)
    trace_write_type_name(writer,
                          &(struct trace_type_name){
                              .time_ns = now, .thread = 1, .type = type, .name = trace_text_of(names[type])});
}

static void write_more(struct trace_writer *writer) {
  write_types(writer);
  for (int i = 0; i < RECORDS; i++) {
    uint32_t frame = 1 + (uint32_t)i % 5;
    now++;
    struct trace_sample sample = {.time_ns = now,
                                  .thread = 1,
                                  .block = now,
                                  .size = now,
                                  .words = malloc_words(now),
                                  .n_samples = 1,
                                  .rate = 0.01};
    assert_true(trace_write_sample(writer, &sample, (struct trace_stack){&frame, 1}));
    struct trace_type type = {.time_ns = now, .thread = 1, .block = now, .type = now % TYPES};
    assert_true(trace_write_type(writer, &type));
  }
}

/* Reads all with a history; returns the first sample that the trace itself has. */
static uint64_t read_with(const char *with, struct trace_damage *damage, uint64_t *samples) {
  struct trace_reader *reader;
  struct trace_event event;
  uint64_t first = UINT64_MAX, chunk, types = 0, names = 0;
  *samples = 0;
  assert_int_equal(trace_reader_open_with(path, with, &reader), WN_OK);
  while (trace_reader_next(reader, &event)) {
    *samples += event.kind == TRACE_SAMPLE;
    types += event.kind == TRACE_TYPE && event.type.type == event.type.block % TYPES;
    names += event.kind == TRACE_TYPE_NAME;
    if (event.kind == TRACE_SAMPLE && trace_reader_chunk(reader, &chunk) && chunk && event.at.time_ns < first)
      first = event.at.time_ns;
  }
  *damage = *trace_reader_damage(reader);
  if (!damage->lacks_history) assert_true(types == *samples && names >= TYPES);
  trace_reader_close(reader);
  return first;
}

static void compact(void) {
  struct compact_result result;
  if (compact_trace(path, BOUND, &result)) fail_msg("%s", wn_last_error());
  assert_true(result.chunks > 2);
}

static void compact_in_vain(void) {
  struct compact_result result;
  assert_int_equal(compact_trace(path, BOUND, &result), WN_OK);
  assert_int_equal(result.chunks, 0);
}

/* As a compactor leaves the trace that is killed before it writes the mark. */
static void remove_mark(void) {
  FILE *file = fopen(path, "r+");
  static const char nothing[CHUNK_BYTES];
  assert_true(file && !fseek(file, CHUNK_BYTES, SEEK_SET));
  assert_int_equal(fwrite(nothing, sizeof nothing, 1, file), 1);
  assert_int_equal(fclose(file), 0);
}

static void check_lack(const char *with) {
  struct trace_damage damage;
  uint64_t samples, first = read_with(with, &damage, &samples);
  assert_true(damage.lacks_history);
  assert_true(trace_is_partial(&damage));
  assert_int_equal(damage.dropped.count, 1);
  assert_int_equal(damage.dropped.of->from_ns, 0);
  assert_int_equal(damage.dropped.of->until_ns, first - 1);
}

static void check_whole(void) {
  struct trace_damage damage;
  uint64_t samples;
  read_with(history, &damage, &samples);
  assert_false(damage.lacks_history);
  assert_int_equal(damage.chunks_dropped, 0);
  assert_int_equal(samples, now);
}

static void what_was_taken_over_is_known_to_be_missing(void **state) {
  (void)state;
  struct trace_writer *writer = made_open(path, 0.01, 0);
  write_more(writer);
  compact();
  check_whole();
  check_lack("/nowhere");
  assert_int_equal(link(history, older), 0);
  write_more(writer);
  compact();
  check_whole();
  check_lack("/nowhere");
  check_lack(older);
  compact_in_vain();
  check_lack("/nowhere");
  remove_mark();
  compact_in_vain();
  check_lack("/nowhere");
  trace_writer_close(writer);
  check_whole();
}

/* The new history, which does not have it either, says so from then on. */
static void a_lost_history_stays_lost(void **state) {
  (void)state;
  struct trace_damage damage;
  uint64_t samples;
  assert_int_equal(unlink(history), 0);
  uint64_t first = read_with(history, &damage, &samples);
  struct compact_result result;
  assert_int_equal(compact_trace(path, BOUND, &result), WN_OK);
  read_with(history, &damage, &samples);
  assert_true(damage.chunks_dropped > 0);
  assert_int_equal(damage.dropped.of->from_ns, 0);
  assert_int_equal(damage.dropped.of->until_ns, first - 1);
}

/* The recorder has dropped chunks of which the compactor had a copy. */
static void what_is_dropped_while_it_is_taken_over_is_not_missing(void **state) {
  (void)state;
  struct trace_damage damage;
  uint64_t samples;
  unlink(history);
  now = 0;
  struct trace_writer *writer = made_open(path, 0.01, 0);
  write_more(writer);
  for (uint64_t i = 0; i < 3; i++) {
    struct trace_dropped event = {.time_ns = ++now, .chunk = 1 + i, .number = i, .count = 1};
    event.from_ns = event.since_ns = 1, event.until_ns = now;
    assert_true(trace_write_dropped(writer, &event));
  }
  write_more(writer);
  compact();
  read_with(history, &damage, &samples);
  assert_int_equal(damage.chunks_dropped, 0);
  assert_int_equal(samples, now - 3);
  trace_writer_close(writer);
}

static int make_paths(void **state) {
  (void)state;
  snprintf(path, sizeof path, "/tmp/test_compact_alone.%d", (int)getpid());
  snprintf(history, sizeof history, "%s" HISTORY_ENDING, path);
  snprintf(older, sizeof older, "%s.older", path);
  return 0;
}

static int remove_files(void **state) {
  (void)state;
  unlink(path);
  unlink(history);
  unlink(older);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_was_taken_over_is_known_to_be_missing),
      cmocka_unit_test(a_lost_history_stays_lost),
      cmocka_unit_test(what_is_dropped_while_it_is_taken_over_is_not_missing),
  };
  return cmocka_run_group_tests(tests, make_paths, remove_files);
}
/* SPDX-License-Identifier: MIT */
