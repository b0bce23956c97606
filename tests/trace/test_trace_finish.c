/* The end of a trace whose program could not tell it: added afterwards by the process that waited
 * for the program; and the end by exec, which is written before and taken back when the exec
 * fails. */
#include "support/test.h"
#include "support/tree_source.h"
#include "trace/chunk.h"
#include "trace/finish.h"
#include "trace/fixture.h"
#include "trace/stamp.h"
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct content {
  uint64_t samples, ends, execs, last_ns;
  struct trace_end end;
  char path[300];
  struct trace_damage damage;
};

static struct content read_content(void) {
  struct content content = {0};
  struct trace_reader *reader;
  assert_int_equal(trace_reader_open(fixture_path(), &reader), WN_OK);
  struct trace_event event;
  while (trace_reader_next(reader, &event)) {
    content.samples += event.kind == TRACE_SAMPLE;
    if (event.at.time_ns > content.last_ns) content.last_ns = event.at.time_ns;
    if (event.kind == TRACE_END) content.ends++, content.end = event.end;
    if (event.kind == TRACE_EXEC) content.execs++, strcpy(content.path, event.exec.path.bytes);
  }
  content.damage = *trace_reader_damage(reader);
  trace_reader_close(reader);
  return content;
}

static bool write_sample(struct trace_writer *writer, uint64_t number) {
  struct trace_sample sample = {
      .time_ns = number * 10, .thread = 7, .block = number, .size = 8, .words = 2, .n_samples = 1};
  return tree_write_sample(writer, &sample);
}

static void write_samples(uint64_t count, uint64_t limit_bytes) {
  struct trace_writer *writer = fixture_open(fixture_path(), limit_bytes);
  for (uint64_t i = 1; i <= count; i++) write_sample(writer, i);
  trace_writer_close(writer);
}

static uint64_t file_bytes(void) {
  struct stat found;
  assert_int_equal(stat(fixture_path(), &found), 0);
  return (uint64_t)found.st_size;
}

static struct trace_totals finish_by_signal(uint64_t time_ns) {
  uint64_t start_ns = fixture_run().monotonic_ns;
  struct trace_end end = {.time_ns = start_ns + time_ns, .kind = TRACE_END_SIGNAL, .code = 9};
  struct trace_totals totals;
  assert_int_equal(trace_finish_with(fixture_path(), &(struct trace_finishing){.end = &end}, &totals), WN_OK);
  assert_true(totals.damage.complete);
  assert_int_equal(totals.end.code, 9);
  assert_int_equal(totals.file_bytes, file_bytes());
  return totals;
}

static void an_end_is_added_in_few_bytes(void **state) {
  (void)state;
  write_samples(100, 0);
  struct trace_totals before;
  assert_int_equal(trace_finish(fixture_path(), &before), WN_OK);
  assert_false(before.damage.complete);
  struct trace_totals after = finish_by_signal(5000);
  assert_in_range(after.file_bytes, before.file_bytes + 3, before.file_bytes + 32);
  struct content content = read_content();
  assert_int_equal(content.samples, 100);
  assert_int_equal(content.end.kind, TRACE_END_SIGNAL);
  assert_int_equal(content.end.time_ns, 5000);
  assert_int_equal(content.damage.chunks_damaged, 0);
  unlink(fixture_path());
}

static void an_end_is_not_before_the_last_event(void **state) {
  (void)state;
  write_samples(100, 0);
  finish_by_signal(5);
  assert_int_equal(read_content().end.time_ns, 1000);
  unlink(fixture_path());
}

static void one_end_is_enough(void **state) {
  (void)state;
  struct trace_writer *writer = fixture_open(fixture_path(), 0);
  struct trace_end end = {.time_ns = 2, .kind = TRACE_END_EXIT, .code = 9};
  assert_true(write_sample(writer, 1) && trace_write_end(writer, &end));
  trace_writer_close(writer);
  struct trace_totals totals = finish_by_signal(50);
  assert_int_equal(totals.end.kind, TRACE_END_EXIT);
  assert_int_equal(read_content().ends, 1);
  unlink(fixture_path());
}

/* What the process was before does not count for it. */
static void an_end_tells_the_most_that_was_resident(void **state) {
  (void)state;
  static const struct {
    uint64_t peak, before, told;
  } cases[] = {{900, 0, 900}, {900, 800, 0}, {900, 799, 900}, {900, UINT64_MAX / 2, 0},
               {0, 0, 0},     {40, 0, 40}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct trace_writer *writer = fixture_open(fixture_path(), 0);
    struct trace_memory memory = {.time_ns = 20, .thread = 7, .rss_bytes = 50};
    assert_true(write_sample(writer, 1) && trace_write_memory(writer, &memory));
    trace_writer_close(writer);
    struct trace_end end = {.kind = TRACE_END_SIGNAL, .code = 9, .peak_bytes = cases[i].peak};
    struct trace_finishing finishing = {.end = &end, .resident_before = cases[i].before};
    struct trace_totals totals;
    assert_int_equal(trace_finish_with(fixture_path(), &finishing, &totals), WN_OK);
    assert_int_equal(read_content().end.peak_bytes, cases[i].told);
    assert_int_equal(totals.resident_bytes, cases[i].told > 50 ? cases[i].told : 50);
    unlink(fixture_path());
  }
}

static void an_end_has_its_cause(void **state) {
  (void)state;
  write_samples(100, 0);
  struct trace_end end = {.kind = TRACE_END_SIGNAL, .code = 9, .cause = TRACE_END_FOR_MEMORY};
  struct trace_totals totals;
  assert_int_equal(trace_finish_with(fixture_path(), &(struct trace_finishing){.end = &end}, &totals), WN_OK);
  end = read_content().end;
  assert_true(trace_was_killed_for_memory(end.kind, end.cause));
  unlink(fixture_path());
}

/* Fills the last chunk to the room of a seal with losses, which may use what is kept for them. */
static void fill_the_last_chunk(void) {
  struct trace_writer *writer = fixture_open(fixture_path(), 2 * CHUNK_BYTES);
  for (uint64_t i = 1; !trace_writer_lost(writer); i++) write_sample(writer, i);
  struct trace_loss loss = {.time_ns = UINT64_MAX / 2, .count = 1};
  for (unsigned i = 0; i < 1000; i++) {
    loss.time_ns = i % 2 ? 0 : UINT64_MAX / 4;
    loss.thread = i % 2;
    trace_write_loss(writer, &loss);
  }
  trace_writer_close(writer);
}

static void a_full_chunk_is_followed_by_another(void **state) {
  (void)state;
  fill_the_last_chunk();
  uint64_t samples = read_content().samples;
  struct trace_end end = {.kind = TRACE_END_SIGNAL, .peak_bytes = TRACE_AMOUNT_MOST}; /* longer than a seal */
  struct trace_totals totals;
  assert_int_equal(trace_finish_with(fixture_path(), &(struct trace_finishing){.end = &end}, &totals), WN_OK);
  assert_int_equal(read_content().samples, samples);
  assert_int_equal(read_content().ends, 1);
  assert_int_equal(read_content().damage.chunks_damaged, 0);
  assert_in_range(totals.file_bytes, 2 * CHUNK_BYTES + CHUNK_HEADER_BYTES, 2 * CHUNK_BYTES + 200);
  unlink(fixture_path());
}

/* Damage in the last chunk, and in the one before, is neither hidden nor made worse. */
static void an_end_is_added_behind_damage(void **state) {
  (void)state;
  for (uint64_t chunk = 1; chunk < 3; chunk++) {
    write_samples(6 * CHUNK_BYTES / 10, 3 * CHUNK_BYTES);
    struct trace_totals totals;
    assert_int_equal(trace_finish(fixture_path(), &totals), WN_OK);
    assert_int_equal(totals.damage.chunks_read, 3);
    int file = open(fixture_path(), O_RDWR);
    assert_int_equal(pwrite(file, "XXXX", 4, (off_t)(chunk * CHUNK_BYTES + 300)), 4);
    close(file);
    finish_by_signal(UINT64_C(1) << 40);
    struct content content = read_content();
    assert_int_equal(content.damage.chunks_damaged, 1);
    assert_int_equal(content.ends, 1);
    assert_int_equal(content.last_ns, UINT64_C(1) << 40);
    unlink(fixture_path());
  }
}

static void an_exec_that_succeeds_is_the_end(void **state) {
  (void)state;
  struct trace_writer *writer = fixture_open(fixture_path(), 0);
  struct trace_exec exec = {.time_ns = 20, .thread = 7, .path = trace_text_of("/bin/other")};
  assert_true(write_sample(writer, 1));
  assert_int_not_equal(trace_write_exec(writer, &exec), 0);
  trace_writer_close(writer);
  struct trace_totals totals;
  struct trace_end unused = {.kind = TRACE_END_SIGNAL};
  assert_int_equal(trace_finish_with(fixture_path(), &(struct trace_finishing){.end = &unused}, &totals),
                   WN_OK);
  assert_int_equal(totals.end.kind, TRACE_END_EXEC);
  assert_string_equal(totals.became, "/bin/other");
  unlink(fixture_path());
}

static void an_exec_that_fails_leaves_no_end(void **state) {
  (void)state;
  struct trace_writer *writer = fixture_open(fixture_path(), 0);
  struct trace_exec exec = {.time_ns = 20, .thread = 7, .path = trace_text_of("/bin/other")};
  uint64_t blocks = 0;
  for (unsigned i = 0; i < 2000; i++) {
    unsigned number = trace_write_exec(writer, &exec);
    assert_int_not_equal(number, 0);
    assert_int_equal(i % 100 ? 1 : read_content().ends, 1);
    assert_true(write_sample(writer, ++blocks)); /* another thread meanwhile: another stream */
    trace_exec_failed(writer, number);
    assert_true(write_sample(writer, ++blocks));
  }
  struct content content = read_content();
  assert_int_equal(content.ends, 0);
  assert_int_equal(content.execs, 2000);
  assert_int_equal(content.samples, blocks);
  assert_int_equal(content.last_ns, 10 * blocks);
  assert_int_equal(content.damage.chunks_damaged, 0);
  trace_writer_close(writer);
  unlink(fixture_path());
}

static void a_long_path_is_cut(void **state) {
  (void)state;
  static char path[5000];
  memset(path, 'p', sizeof path - 1);
  struct trace_writer *writer = fixture_open(fixture_path(), 0);
  struct trace_exec exec = {.time_ns = 20, .thread = 7, .path = trace_text_of(path)};
  assert_int_not_equal(trace_write_exec(writer, &exec), 0);
  trace_writer_close(writer);
  struct trace_totals totals;
  assert_int_equal(trace_finish(fixture_path(), &totals), WN_OK);
  assert_int_equal(strlen(totals.became), 255);
  unlink(fixture_path());
}

/* Of a process that calls itself otherwise, the run tells the last title, and keeps the first
 * command. */
static void the_last_title_counts(void **state) {
  (void)state;
  struct trace_writer *writer = fixture_open(fixture_path(), 0);
  struct trace_title titles[] = {
      {.time_ns = 30, .thread = 1, .title = trace_text_of("server: worker"), .name = trace_text_of("pool-1")},
      {.time_ns = 20, .thread = 2, .title = trace_text_of("server: begins"), .name = trace_text_of("")},
  };
  for (int i = 0; i < 2; i++) assert_true(trace_write_title(writer, &titles[i]));
  trace_writer_close(writer);
  struct trace_reader *reader;
  struct trace_event event;
  assert_int_equal(trace_reader_open(fixture_path(), &reader), WN_OK);
  const struct trace_run *run = trace_reader_run(reader);
  assert_int_equal(run->title.length, 0);
  while (trace_reader_next(reader, &event)) {}
  assert_string_equal(run->title.bytes, "server: worker");
  assert_string_equal(run->name.bytes, "pool-1");
  assert_int_equal(run->command.length, fixture_run().command.length);
  trace_reader_close(reader);
  unlink(fixture_path());
}

/* A process that is about to write the file does not find it locked. */
static void an_empty_file_is_not_locked(void **state) {
  (void)state;
  struct trace_totals totals;
  int fd = open(fixture_path(), O_RDWR | O_CREAT | O_TRUNC, 0600);
  assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
  assert_int_equal(trace_finish(fixture_path(), &totals), WN_EFORMAT); /* and not WN_EBUSY */
  close(fd);
  unlink(fixture_path());
}

/* Also where the file keeps its size, in the middle of a chunk as at its begin. */
static void each_record_changes_the_stamp(void **state) {
  (void)state;
  struct trace_writer *writer = fixture_open(fixture_path(), 0);
  uint64_t last = trace_stamp(fixture_path());
  for (uint64_t i = 1; i <= 10000; i++) {
    write_sample(writer, i);
    uint64_t stamp = trace_stamp(fixture_path());
    assert_true(stamp && stamp != last);
    assert_true(stamp == trace_stamp(fixture_path()));
    last = stamp;
  }
  trace_writer_close(writer);
  assert_true(trace_stamp("/nowhere/no trace") == 0);
  assert_true(trace_stamp("/dev/zero") != 0); /* which has no end */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_record_changes_the_stamp),
      cmocka_unit_test(the_last_title_counts),
      cmocka_unit_test(an_empty_file_is_not_locked),
      cmocka_unit_test(an_end_is_added_in_few_bytes),
      cmocka_unit_test(an_end_is_not_before_the_last_event),
      cmocka_unit_test(one_end_is_enough),
      cmocka_unit_test(an_end_tells_the_most_that_was_resident),
      cmocka_unit_test(an_end_has_its_cause),
      cmocka_unit_test(a_full_chunk_is_followed_by_another),
      cmocka_unit_test(an_end_is_added_behind_damage),
      cmocka_unit_test(an_exec_that_succeeds_is_the_end),
      cmocka_unit_test(an_exec_that_fails_leaves_no_end),
      cmocka_unit_test(a_long_path_is_cut),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
