/* What a trace may be written to and read from: files that are missing, foreign, or somebody
 * else's. */
#include "support/test.h"

#include "trace/chunk.h"
#include "trace/fixture.h"
#include "trace/history.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void refusals_say_what_is_wrong(void **state) {
  (void)state;
  const char *path = fixture_path();
  unlink(path);
  fixture_expect_refusal(path, WN_EIO, "No such file");
  fixture_expect_refusal(".", WN_EFORMAT, "directory");
  fixture_expect_refusal("/dev/null", WN_EFORMAT, "regular file");
  fixture_write_file(path, "", 0);
  fixture_expect_refusal(path, WN_EFORMAT, "empty");
  fixture_write_file(path, "hello, this is a text", 21);
  fixture_expect_refusal(path, WN_EINVAL, "not a Winnow trace");
  fixture_write_file(path, chunk_magic, sizeof chunk_magic);
  fixture_expect_refusal(path, WN_EFORMAT, "cut off after 8 bytes");
  const unsigned char zeros[4096] = {0};
  fixture_write_file(path, zeros, sizeof zeros);
  fixture_expect_refusal(path, WN_EFORMAT, "cut before its header");
  fixture_write_file(path, zeros, 1);
  fixture_expect_refusal(path, WN_EFORMAT, "cut before its header");
  unlink(path);
}

static void finish_leaves_a_foreign_file_as_it_is(void **state) {
  (void)state;
  const char *path = fixture_path();
  char text[5000];
  memset(text, 'x', sizeof text);
  memset(text + 1000, 0, 4000);
  fixture_write_file(path, text, sizeof text);
  struct trace_totals totals;
  assert_int_equal(trace_finish(path, &totals), WN_EINVAL);
  struct stat found;
  assert_int_equal(stat(path, &found), 0);
  assert_int_equal(found.st_size, sizeof text);
  unlink(path);
}

static void expect_left_alone(const char *path, const char *text, size_t length) {
  struct trace_run run = fixture_run();
  struct trace_options options = {.path = path};
  struct trace_writer *writer;
  char found[64];
  fixture_write_file(path, text, length);
  assert_int_equal(tree_writer_open(&options, &run, &fixture_source, &writer), WN_EINVAL);
  assert_non_null(strstr(wn_last_error(), "exists and is not a trace"));
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  assert_int_equal(read(fd, found, sizeof found), length);
  assert_memory_equal(found, text, length);
  close(fd);
  unlink(path);
}

static void a_writer_overwrites_nothing_but_traces(void **state) {
  (void)state;
  const char *path = fixture_path();
  expect_left_alone(path, "(print 1)\n", 10);
  expect_left_alone(path, "x", 1);
  expect_left_alone(path, "\x89Winno", 6);
  expect_left_alone(path, "\0\0\0\0\0\0\0\0\0", 9);
  fixture_write_file(path, "", 0);
  trace_writer_close(fixture_open(path, 0));
  trace_writer_close(fixture_open(path, 0)); /* over the one before */
  unlink(path);
}

static mode_t mode_of(const char *path) {
  struct stat found;
  assert_int_equal(stat(path, &found), 0);
  return found.st_mode & 07777;
}

static void a_trace_is_its_users_alone(void **state) {
  (void)state;
  const char *path = fixture_path();
  unlink(path);
  mode_t before = umask(0);
  trace_writer_close(fixture_open(path, 0));
  assert_int_equal(mode_of(path), 0600);
  assert_int_equal(chmod(path, 0646), 0);
  trace_writer_close(fixture_open(path, 0)); /* over an older one */
  assert_int_equal(mode_of(path), 0600);
  unlink(path);
  umask(0377);
  trace_writer_close(fixture_open(path, 0));
  assert_int_equal(mode_of(path), 0400);
  umask(before);
  unlink(path);
}

static void expect_untouched(const char *path, const char *words) {
  struct trace_run run = fixture_run();
  struct trace_options options = {.path = path};
  struct trace_writer *writer;
  assert_int_equal(tree_writer_open(&options, &run, &fixture_source, &writer), WN_EINVAL);
  assert_non_null(strstr(wn_last_error(), words));
}

static void no_other_name_of_a_file_is_written_to(void **state) {
  (void)state;
  char target[80], other[80];
  snprintf(target, sizeof target, "%s.target", fixture_path());
  snprintf(other, sizeof other, "%s.other", fixture_path());
  assert_int_equal(symlink(target, other), 0); /* to nowhere */
  expect_untouched(other, "is a symbolic link");
  assert_int_not_equal(access(target, F_OK), 0);
  trace_writer_close(fixture_open(target, 0));
  struct stat before, after;
  assert_int_equal(stat(target, &before), 0);
  expect_untouched(other, "is a symbolic link");
  unlink(other);
  assert_int_equal(link(target, other), 0);
  expect_untouched(other, "has other names too");
  unlink(other);
  assert_int_equal(stat(target, &after), 0);
  assert_int_equal(before.st_size, after.st_size);
  if (!geteuid()) {
    assert_int_equal(chown(target, 12345, 12345), 0);
    expect_untouched(target, "belongs to another user");
  }
  unlink(target);
}

static off_t bytes_of(const char *path) {
  struct stat found;
  assert_int_equal(stat(path, &found), 0);
  return found.st_size;
}

static uint64_t bytes_on_disk(const char *path) {
  struct stat found;
  assert_int_equal(stat(path, &found), 0);
  return (uint64_t)found.st_blocks * 512;
}

/* And grows with what is written. */
/* Daemons close all descriptors that they do not know. */
static void the_lock_is_held_when_the_program_closes_descriptors(void **state) {
  (void)state;
  const char *path = fixture_path();
  unlink(path);
  struct trace_writer *writer = fixture_open(path, 0);
  int mine = open(path, O_RDWR);
  assert_true(mine >= 0);
  for (int descriptor = 3; descriptor < 1100; descriptor++)
    if (descriptor != mine) close(descriptor);
  /* Until no chunk is left that was mapped by way of the first descriptor. */
  for (uint64_t i = 1; trace_writer_bytes(writer) < 4 * CHUNK_BYTES; i++)
    assert_true(trace_write_free(writer, &(struct trace_free){.time_ns = i, .thread = 1, .block = i}));
  assert_int_equal(flock(mine, LOCK_EX | LOCK_NB), -1);
  trace_writer_close(writer);
  assert_int_equal(flock(mine, LOCK_EX | LOCK_NB), 0);
  close(mine);
  unlink(path);
}

static void a_trace_takes_little_space_at_first(void **state) {
  (void)state;
  const char *path = fixture_path();
  unlink(path);
  struct trace_writer *writer = fixture_open(path, 0);
  uint64_t page = (uint64_t)getpagesize(), most = page < CHUNK_BYTES ? page : CHUNK_BYTES;
  assert_in_range(bytes_on_disk(path), 1, 2 * most);
  for (uint64_t i = 0; i < 100000; i++) {
    struct trace_free event = {.time_ns = i, .thread = 1, .block = i};
    assert_true(trace_write_free(writer, &event));
    if (i % 1000) continue;
    struct trace_reader *reader;
    struct trace_event ignored;
    assert_int_equal(trace_reader_open(path, &reader), WN_OK);
    while (trace_reader_next(reader, &ignored)) {}
    uint64_t used = trace_reader_used_end(reader);
    trace_reader_close(reader);
    assert_true(bytes_on_disk(path) <= 2 * used + 2 * most + (used > CHUNK_BYTES ? CHUNK_BYTES : 0));
  }
  trace_writer_close(writer);
  unlink(path);
}

static unsigned cuts;
static void note_cut(const char *path) {
  assert_non_null(strstr(path, fixture_path()));
  cuts++;
}

static bool write_free(struct trace_writer *writer, uint64_t time_ns) {
  return trace_write_free(writer, &(struct trace_free){.time_ns = time_ns, .thread = 1, .block = time_ns});
}

static void nothing_is_written_to_a_file_that_was_cut(void **state) {
  (void)state;
  const char *path = fixture_path();
  struct trace_run run = fixture_run();
  struct trace_options options = {.path = path, .cut = note_cut};
  struct trace_writer *writer;
  for (off_t rest = 0; rest <= 2 * CHUNK_BYTES; rest += CHUNK_BYTES) {
    uint64_t time = 1;
    cuts = 0;
    assert_int_equal(tree_writer_open(&options, &run, &fixture_source, &writer), WN_OK);
    while (bytes_of(path) <= 4 * CHUNK_BYTES) assert_true(write_free(writer, time += 10));
    assert_int_equal(truncate(path, rest), 0);
    assert_false(write_free(writer, time += 1000000));
    assert_false(write_free(writer, time + 1));
    assert_false(trace_write_end(writer, &(struct trace_end){.time_ns = time + 2}));
    assert_int_equal(cuts, 1);
    assert_int_equal(bytes_of(path), rest);
    trace_writer_close(writer);
  }
  unlink(path);
}

/* Where the last descriptor is the trace's, it is not known whether there is a history. */
static void without_descriptors_a_trace_is_not_called_damaged(void **state) {
  (void)state;
  const char *path = fixture_path();
  struct trace_reader *reader;
  struct rlimit limit, before;
  trace_writer_close(fixture_open(path, 0));
  int lowest = dup(0);
  close(lowest);
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  limit = before;
  limit.rlim_cur = (rlim_t)lowest + 1;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
  wn_status status = trace_reader_open(path, &reader);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
  assert_int_equal(status, WN_EIO);
  assert_non_null(strstr(wn_last_error(), HISTORY_ENDING ": Too many open files"));
  assert_int_equal(dup(0), lowest); /* none is left open */
  close(lowest);
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refusals_say_what_is_wrong),
      cmocka_unit_test(finish_leaves_a_foreign_file_as_it_is),
      cmocka_unit_test(a_writer_overwrites_nothing_but_traces),
      cmocka_unit_test(a_trace_is_its_users_alone),
      cmocka_unit_test(no_other_name_of_a_file_is_written_to),
      cmocka_unit_test(the_lock_is_held_when_the_program_closes_descriptors),
      cmocka_unit_test(a_trace_takes_little_space_at_first),
      cmocka_unit_test(nothing_is_written_to_a_file_that_was_cut),
      cmocka_unit_test(without_descriptors_a_trace_is_not_called_damaged),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
