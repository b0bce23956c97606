/* A history that is damaged is not compacted anew, since the new one would count as whole. */
#include "support/test.h"

#include "base/os.h"
#include "base/words.h"
#include "compact/compact.h"
#include "compact/made_trace.h"
#include "trace/chunk.h"
#include "trace/history.h"
#include "trace/reader.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECORDS = TINY ? 8000 : 80000 };
#define BOUND ((uint64_t)64 << 20) /* nothing is left out */

static char path[64], history[80], copy[80];
static uint64_t now;

static void write_more(struct trace_writer *writer) {
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
  }
}

static struct trace_damage read_all(uint64_t *samples) {
  struct trace_reader *reader;
  struct trace_event event;
  *samples = 0;
  assert_int_equal(trace_reader_open(path, &reader), WN_OK);
  while (trace_reader_next(reader, &event)) *samples += event.kind == TRACE_SAMPLE;
  struct trace_damage damage = *trace_reader_damage(reader);
  assert_int_equal(trace_reader_history_damaged(reader), damage.chunks_damaged > 0);
  trace_reader_close(reader);
  return damage;
}

/* The content of a file; from malloc. */
struct content {
  unsigned char *bytes;
  size_t count;
};

static struct content read_file(const char *name) {
  struct stat found;
  int descriptor = open(name, O_RDONLY | O_CLOEXEC);
  assert_true(descriptor >= 0 && !fstat(descriptor, &found));
  struct content content = {malloc((size_t)found.st_size + 1), (size_t)found.st_size};
  assert_non_null(content.bytes);
  assert_int_equal(os_read_at(descriptor, content.bytes, content.count, 0), content.count);
  close(descriptor);
  return content;
}

static void write_history(const struct content *content) {
  int descriptor = open(history, O_WRONLY | O_TRUNC | O_CLOEXEC);
  assert_true(descriptor >= 0 && os_write_at(descriptor, content->bytes, content->count, 0));
  close(descriptor);
}

static void check_same(const char *name, const struct content *content) {
  struct content found = read_file(name);
  assert_int_equal(found.count, content->count);
  assert_memory_equal(found.bytes, content->bytes, content->count);
  free(found.bytes);
}

static void check_refusal(wn_status status) {
  assert_int_equal(status, WN_EIO);
  assert_non_null(strstr(wn_last_error(), path));
  assert_non_null(strstr(wn_last_error(), "is damaged"));
}

/* With this as the history. */
static void refuse(const struct content *damaged, const char *how) {
  struct compact_result result;
  struct content trace = read_file(path);
  uint64_t samples;
  print_message("  %s\n", how);
  write_history(damaged);
  assert_true(read_all(&samples).chunks_damaged > 0);
  assert_true(samples < now);
  check_refusal(compact_trace(path, BOUND, &result));
  check_same(path, &trace);
  check_same(history, damaged);
  check_refusal(compact_copy(path, copy));
  assert_int_not_equal(access(copy, F_OK), 0);
  free(trace.bytes);
}

/* With the history as it is but for some bytes, which are 0, and an end. */
static void refuse_zeros(const struct content *whole, size_t begin, size_t end, size_t count,
                         const char *how) {
  struct content damaged = {malloc(whole->count), count};
  assert_non_null(damaged.bytes);
  memcpy(damaged.bytes, whole->bytes, whole->count);
  memset(damaged.bytes + begin, 0, end - begin);
  refuse(&damaged, how);
  free(damaged.bytes);
}

static void a_damaged_history_is_left_alone(void **state) {
  (void)state;
  struct compact_result result;
  uint64_t samples;
  struct trace_writer *writer = made_open(path, 0.01, 0);
  write_more(writer);
  assert_int_equal(compact_trace(path, BOUND, &result), WN_OK);
  write_more(writer);
  struct content whole = read_file(history);
  size_t chunks = whole.count / CHUNK_BYTES, last = chunks * CHUNK_BYTES, middle = chunks / 2 * CHUNK_BYTES;
  assert_true(chunks > 3 && last < whole.count);
  refuse_zeros(&whole, middle + CHUNK_BYTES / 2, middle + CHUNK_BYTES / 2 + 64, whole.count, "some bytes");
  refuse_zeros(&whole, middle, middle + CHUNK_BYTES, whole.count, "a whole chunk");
  refuse_zeros(&whole, last, whole.count, whole.count, "the last chunk");
  refuse_zeros(&whole, 0, 0, whole.count - 1, "the last byte");
  refuse_zeros(&whole, 0, 0, last, "cut behind a chunk");
  refuse_zeros(&whole, 0, 0, middle + CHUNK_BYTES / 2, "cut in the middle");
  write_history(&whole);
  assert_int_equal(compact_trace(path, BOUND, &result), WN_OK);
  assert_true(result.chunks > 2);
  trace_writer_close(writer);
  assert_int_equal(read_all(&samples).chunks_damaged, 0);
  assert_int_equal(samples, now);
  free(whole.bytes);
}

static int make_paths(void **state) {
  (void)state;
  snprintf(path, sizeof path, "/tmp/test_compact_damaged.%d", (int)getpid());
  snprintf(history, sizeof history, "%s" HISTORY_ENDING, path);
  snprintf(copy, sizeof copy, "%s.copy", path);
  return 0;
}

static int remove_files(void **state) {
  (void)state;
  unlink(path);
  unlink(history);
  unlink(copy);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_damaged_history_is_left_alone)};
  return cmocka_run_group_tests(tests, make_paths, remove_files);
}
/* SPDX-License-Identifier: MIT */
