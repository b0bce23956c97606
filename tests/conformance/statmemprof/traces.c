/* Traces of the collected heap: what is written can be read, and says what was true. */
#include "trace_file.h"
#include "tracker.h"

#include "trace/reader.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <winnow/trace.h>

struct seen {
  long samples, frees;
  uint64_t words;
  bool complete;
};

static struct seen read_back(const char *path) {
  struct seen seen = {0};
  struct trace_reader *reader;
  struct trace_event event;
  assert_int_equal(trace_reader_open(path, &reader), WN_OK);
  while (trace_reader_next(reader, &event)) {
    seen.samples += event.kind == TRACE_SAMPLE;
    seen.frees += event.kind == TRACE_FREE;
    if (event.kind == TRACE_SAMPLE) seen.words += event.sample.words;
  }
  const struct trace_run *run = trace_reader_run(reader);
  assert_int_equal(run->heap.length, strlen("winnow"));
  assert_memory_equal(run->heap.bytes, "winnow", run->heap.length);
  assert_int_equal(trace_reader_damage(reader)->chunks_damaged, 0);
  seen.complete = trace_reader_damage(reader)->complete;
  trace_reader_close(reader);
  return seen;
}

static void a_trace_has_the_birth_and_death_of_each_sampled_block(void **state) { /* R1 */
  wn_memprof_options all = WN_MEMPROF_DEFAULTS;
  struct file file = new_file();
  struct journal of;
  wn_trace *trace;
  (void)state;
  all.sampling_rate = 1;
  journal_open(&of, NULL);
  assert_int_equal(wn_trace_start(of.domain, file.path, &all, &trace), WN_OK);
  {
    WN_SCOPE(of.domain);
    make_list(of.domain, 1000, 4); /* promoted, and freed below */
    allocate(of.domain, 500, 2);
    wn_gc_full_major(of.domain);
  }
  wn_gc_full_major(of.domain);
  assert_int_equal(wn_trace_stop(of.domain, trace), WN_OK);
  struct seen seen = read_back(file.path);
  assert_int_equal(seen.samples, 1500);
  assert_int_equal(seen.frees, 1500);
  assert_int_equal(seen.words, 1000 * 5 + 500 * 3);
  assert_true(seen.complete);
  journal_close(&of);
  unlink(file.path);
}

static void a_heap_that_is_closed_ends_its_trace(void **state) { /* R2 */
  struct file file = new_file();
  struct journal of;
  wn_trace *trace;
  (void)state;
  journal_open(&of, NULL);
  assert_int_equal(wn_trace_start(of.domain, file.path, NULL, &trace), WN_OK);
  allocate(of.domain, 100000, 4);
  journal_close(&of);
  struct seen seen = read_back(file.path);
  assert_true(seen.samples > 0);
  assert_true(seen.complete);
  unlink(file.path);
}

static off_t bytes_of(const char *path) {
  struct stat found;
  assert_int_equal(stat(path, &found), 0);
  return found.st_size;
}

/* While a trace is written it has space in advance. A child that ends leaves the parent's file
 * alone. */
static void a_trace_that_has_ended_is_no_longer_than_its_chunks(void **state) { /* R2 */
  struct file file = new_file();
  struct journal of;
  wn_trace *trace;
  (void)state;
  journal_open(&of, NULL);
  assert_int_equal(wn_trace_start(of.domain, file.path, NULL, &trace), WN_OK);
  allocate(of.domain, 1000, 4);
  off_t before = bytes_of(file.path);
  pid_t child = fork();
  if (!child) {
    wn_trace_stop(of.domain, trace);
    _exit(0);
  }
  assert_true(child > 0);
  assert_int_equal(waitpid(child, NULL, 0), child);
  assert_int_equal(bytes_of(file.path), before);
  assert_int_equal(wn_trace_stop(of.domain, trace), WN_OK);
  assert_in_range(bytes_of(file.path), 1, before / 4);
  assert_true(read_back(file.path).complete);
  journal_close(&of);
  unlink(file.path);
}

static void a_trace_is_requested_by_the_environment(void **state) { /* R3 */
  struct file file = new_file();
  struct journal of;
  wn_trace *trace, *second;
  (void)state;
  journal_open(&of, NULL);
  unsetenv("WINNOW_TRACE");
  assert_int_equal(wn_trace_if_requested(of.domain, &trace), WN_OK);
  assert_null(trace);
  setenv("WINNOW_TRACE", file.path, 1);
  setenv("WINNOW_RATE", "much", 1);
  assert_int_equal(wn_trace_if_requested(of.domain, &trace), WN_EINVAL);
  setenv("WINNOW_RATE", "1", 1);
  assert_int_equal(wn_trace_if_requested(of.domain, &trace), WN_OK);
  assert_int_equal(wn_trace_if_requested(of.domain, &second), WN_ESTATE);
  assert_null(second);
  allocate(of.domain, 10, 4);
  assert_int_equal(wn_trace_stop(of.domain, trace), WN_OK);
  setenv("WINNOW_FOLLOW", "1", 1); /* then the request is for malloc heaps, and that is one's trace */
  assert_int_equal(wn_trace_if_requested(of.domain, &second), WN_OK);
  assert_null(second);
  unsetenv("WINNOW_FOLLOW");
  unsetenv("WINNOW_TRACE");
  unsetenv("WINNOW_RATE");
  journal_close(&of);
  assert_int_equal(read_back(file.path).samples, 10);
  unlink(file.path);
}

/* Requests with one variable more. */
static wn_status request(wn_domain *domain, const char *name, const char *value) {
  wn_trace *trace;
  setenv(name, value, 1);
  wn_status status = wn_trace_if_requested(domain, &trace);
  unsetenv(name);
  if (status)
    assert_null(trace);
  else
    assert_int_equal(wn_trace_stop(domain, trace), WN_OK);
  return status;
}

static void a_wrong_variable_is_told_and_no_trace_begins(void **state) { /* R3 */
  static const struct {
    const char *name, *right[4], *wrong[8];
  } cases[] = {
      {"WINNOW_RATE", {"", "0", "1e-4", "1"}, {"abc", "0,5", "1.5", "-1", "nan", " 1"}},
      {"WINNOW_DEPTH", {"", "0", "7", "1024"}, {"xyz", "1025", "-1", "1.5", "1e2"}},
      {"WINNOW_SEED",
       {"", "0", "0x1f", "18446744073709551615"},
       {"xyz", "-1", "1.5", "18446744073709551616"}},
      {"WINNOW_FOLLOW", {"", "0", "", "0"}, {"yes", "4"}},
  };
  struct file file = new_file();
  struct journal of;
  (void)state;
  journal_open(&of, NULL);
  setenv("WINNOW_TRACE", file.path, 1);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    for (int j = 0; j < 4; j++) assert_int_equal(request(of.domain, cases[i].name, cases[i].right[j]), WN_OK);
    for (int j = 0; j < 8 && cases[i].wrong[j]; j++) {
      char beginning[64];
      unlink(file.path);
      assert_int_equal(request(of.domain, cases[i].name, cases[i].wrong[j]), WN_EINVAL);
      snprintf(beginning, sizeof beginning, "%s=%s: it must be ", cases[i].name, cases[i].wrong[j]);
      assert_memory_equal(wn_last_error(), beginning, strlen(beginning));
      assert_int_not_equal(access(file.path, F_OK), 0);
    }
  }
  unsetenv("WINNOW_TRACE");
  journal_close(&of);
  unlink(file.path);
}

static void what_cannot_be_written_is_refused(void **state) { /* R4 */
  struct journal of;
  wn_trace *trace;
  (void)state;
  journal_open(&of, NULL);
  assert_int_not_equal(wn_trace_start(of.domain, "/nowhere/at/all", NULL, &trace), WN_OK);
  assert_true(strlen(wn_last_error()) > 0);
  assert_false(wn_memprof_is_sampling(of.domain));
  assert_int_equal(wn_trace_start(of.domain, NULL, NULL, &trace), WN_EINVAL);
  assert_int_equal(wn_trace_start(NULL, "/tmp/never", NULL, &trace), WN_EINVAL);
  wn_blocking_begin(of.domain);
  assert_int_equal(wn_trace_start(of.domain, "/tmp/never", NULL, &trace), WN_ESTATE);
  wn_blocking_end(of.domain);
  assert_int_not_equal(access("/tmp/never", F_OK), 0);
  journal_close(&of);
}

static void a_trace_is_stopped_once_by_a_domain_that_takes_part(void **state) { /* R9 */
  struct file file = new_file();
  struct journal of;
  wn_trace *trace;
  (void)state;
  journal_open(&of, NULL);
  assert_int_equal(wn_trace_start(of.domain, file.path, NULL, &trace), WN_OK);
  assert_int_equal(wn_trace_stop(of.domain, NULL), WN_EINVAL);
  assert_int_equal(wn_trace_stop(NULL, trace), WN_EINVAL);
  wn_blocking_begin(of.domain);
  assert_int_equal(wn_trace_stop(of.domain, trace), WN_ESTATE);
  wn_blocking_end(of.domain);
  assert_true(wn_memprof_is_sampling(of.domain));
  assert_int_equal(wn_trace_stop(of.domain, trace), WN_OK);
  assert_int_equal(wn_trace_stop(of.domain, trace), WN_ESTATE);
  journal_close(&of);
  unlink(file.path);
}

static void traces_may_follow_each_other(void **state) { /* R2 */
  struct file file = new_file();
  struct journal of;
  (void)state;
  journal_open(&of, NULL);
  for (int i = 0; i < 20; i++) {
    wn_trace *trace;
    assert_int_equal(wn_trace_start(of.domain, file.path, NULL, &trace), WN_OK);
    allocate(of.domain, 100000, 4);
    wn_poll(of.domain);
    assert_int_equal(wn_trace_stop(of.domain, trace), WN_OK);
    assert_true(read_back(file.path).complete);
  }
  journal_close(&of);
  unlink(file.path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_trace_has_the_birth_and_death_of_each_sampled_block),
      cmocka_unit_test(a_heap_that_is_closed_ends_its_trace),
      cmocka_unit_test(a_trace_that_has_ended_is_no_longer_than_its_chunks),
      cmocka_unit_test(a_trace_is_requested_by_the_environment),
      cmocka_unit_test(a_wrong_variable_is_told_and_no_trace_begins),
      cmocka_unit_test(what_cannot_be_written_is_refused),
      cmocka_unit_test(a_trace_is_stopped_once_by_a_domain_that_takes_part),
      cmocka_unit_test(traces_may_follow_each_other),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
