/* A compactor that is killed before any of its system calls leaves the trace as it was before or as
 * it is afterwards, and what the next one makes of it has every record once. Between two system
 * calls it changes nothing that another process sees but the new history, which has no name yet
 * that a reader knows. The compactor is traced (ptrace) and killed before its first call, then
 * before its second, and so on. */
#include "support/runs.h"
#include "support/test.h"

#include "base/words.h"
#include "compact/compact.h"
#include "compact/made_trace.h"
#include "trace/chunk.h"
#include "trace/finish.h"
#include "trace/history.h"
#include "trace/reader.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKS = TINY ? 3000 : 30000, CALLS_MOST = 5000, LIST_OF_HOLES = 8192 };
#define BOUND ((uint64_t)64 << 20) /* nothing is left out */

static char path[64], history[80], fresh[80];

static void record(void) {
  unlink(history);
  unlink(fresh);
  struct trace_writer *writer = made_open(path, 0.01, 0);
  for (uint64_t i = 1; i <= BLOCKS; i++) {
    uint32_t frames[2] = {1 + (uint32_t)i % 5, 9};
    struct trace_sample sample = {.time_ns = i,
                                  .thread = 1,
                                  .block = i,
                                  .size = i,
                                  .words = malloc_words(i),
                                  .n_samples = 1,
                                  .rate = 0.01};
    struct trace_free death = {.time_ns = i, .thread = 2, .block = i - 100};
    assert_true(trace_write_sample(writer, &sample, (struct trace_stack){frames, 2}));
    if (i > 100 && i % 2) assert_true(trace_write_free(writer, &death));
  }
  trace_writer_close(writer);
}

/* Each block once, with its size and stack, and half of them freed. */
static void check_trace(void) {
  static unsigned char born[BLOCKS + 1], died[BLOCKS + 1];
  struct trace_reader *reader;
  struct trace_event event;
  size_t births = 0, deaths = 0;
  memset(born, 0, sizeof born);
  memset(died, 0, sizeof died);
  assert_int_equal(trace_reader_open(path, &reader), WN_OK);
  while (trace_reader_next(reader, &event)) {
    if (event.kind == TRACE_SAMPLE) {
      assert_in_range(event.sample.block, 1, BLOCKS);
      assert_int_equal(event.sample.size, event.sample.block);
      struct trace_node node = trace_reader_node(reader, event.sample.stack);
      assert_int_equal(node.offset, 9);
      assert_int_equal(trace_reader_node(reader, node.parent).offset, 1 + event.sample.block % 5);
      births += !born[event.sample.block]++;
      assert_int_equal(born[event.sample.block], 1);
    } else if (event.kind == TRACE_FREE) {
      deaths += !died[event.free.block]++;
      assert_int_equal(died[event.free.block], 1);
    }
  }
  assert_int_equal(births, BLOCKS);
  assert_int_equal(deaths, BLOCKS / 2 - 50);
  assert_int_equal(trace_reader_damage(reader)->chunks_damaged, 0);
  trace_reader_close(reader);
}

/* Returns whether it ended by itself, before its call of this number. */
static bool compact_and_kill(int number) {
  pid_t child = fork();
  assert_true(child >= 0);
  if (!child) {
    struct compact_result result;
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL)) _exit(77);
    raise(SIGSTOP);
    _exit(compact_trace(path, BOUND, &result) != WN_OK);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) skip();
  for (int stops = 0; WIFSTOPPED(status); stops++) { /* two for each call */
    if (stops == 2 * number) kill(child, SIGKILL);
    ptrace(PTRACE_SYSCALL, child, NULL, NULL);
    assert_int_equal(waitpid(child, &status, 0), child);
  }
  assert_true(WIFSIGNALED(status) || !WEXITSTATUS(status));
  return WIFEXITED(status);
}

static uint64_t disk_bytes(const char *name) {
  struct stat found;
  return stat(name, &found) ? 0 : (uint64_t)found.st_blocks * 512;
}

static void a_kill_at_any_call_leaves_a_whole_trace(void **state) {
  (void)state;
  bool before = false, after = false, ended = false;
  int number = 0, one_in = 1000 / runs_of(1000);
  for (; !ended && number < CALLS_MOST; number += one_in * (1 + number / 50)) {
    struct compact_result result;
    record();
    uint64_t bytes = disk_bytes(path);
    ended = compact_and_kill(number);
    before |= access(history, F_OK);
    after |= !access(history, F_OK) && disk_bytes(path) > bytes / 2; /* renamed, but no holes yet */
    check_trace();
    assert_int_equal(compact_trace(path, BOUND, &result), WN_OK);
    check_trace();
    assert_int_not_equal(access(fresh, F_OK), 0);
    assert_true(disk_bytes(path) <= 2 * CHUNK_BYTES + LIST_OF_HOLES);
    assert_int_equal(compact_trace(path, BOUND, &result), WN_OK);
    assert_int_equal(result.chunks, 0);
    check_trace();
  }
  printf("  killed before %d of its calls\n", number);
  assert_true(ended && before);
  (void)after;
  unlink(path);
  unlink(history);
}

/* The process that waited for the program ends the trace after it was compacted as a whole. */
static void an_end_comes_after_a_compaction(void **state) {
  (void)state;
  struct compact_result result;
  struct trace_end end = {.time_ns = 5, .kind = TRACE_END_SIGNAL, .code = 9};
  struct trace_totals totals;
  record();
  assert_int_equal(compact_trace(path, BOUND, &result), WN_OK);
  assert_int_equal(trace_finish_with(path, &(struct trace_finishing){.end = &end}, &totals), WN_OK);
  assert_true(totals.damage.complete);
  assert_int_equal(totals.samples, BLOCKS);
  for (int i = 0; i < 2; i++) {
    check_trace();
    assert_int_equal(trace_finish(path, &totals), WN_OK);
    assert_true(totals.damage.complete && totals.end.code == 9);
    assert_int_equal(compact_trace(path, BOUND, &result), WN_OK);
    assert_int_equal(result.chunks, !i); /* that of the end */
  }
  unlink(path);
  unlink(history);
}

/* A copy is one file, with all that the trace and its history have. */
static void a_copy_is_whole(void **state) {
  (void)state;
  struct compact_result result;
  char copy[80], kept[64];
  snprintf(copy, sizeof copy, "%s.copy", path);
  record();
  assert_int_equal(compact_trace(path, BOUND, &result), WN_OK);
  assert_int_equal(compact_copy(path, copy), WN_OK);
  unlink(path);
  unlink(history);
  memcpy(kept, path, sizeof kept);
  memcpy(path, copy, sizeof path);
  check_trace();
  memcpy(path, kept, sizeof path);
  unlink(copy);
}

/* A file that only looks like the history of this trace is passed over. */
static void the_history_of_another_trace_does_not_count(void **state) {
  (void)state;
  struct compact_result result;
  char kept[100];
  record();
  assert_int_equal(compact_trace(path, BOUND, &result), WN_OK);
  assert_true(result.chunks > 0);
  snprintf(kept, sizeof kept, "%s.kept", history);
  assert_int_equal(rename(history, kept), 0);
  record();
  assert_int_equal(rename(kept, history), 0);
  check_trace();
  assert_int_equal(compact_trace(path, BOUND, &result), WN_OK);
  assert_true(result.chunks > 0);
  check_trace();
  unlink(path);
  unlink(history);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_kill_at_any_call_leaves_a_whole_trace),
                                     cmocka_unit_test(an_end_comes_after_a_compaction),
                                     cmocka_unit_test(a_copy_is_whole),
                                     cmocka_unit_test(the_history_of_another_trace_does_not_count)};
  snprintf(path, sizeof path, "test_compact_kill.%d.trace", (int)getpid());
  snprintf(history, sizeof history, "%s" HISTORY_ENDING, path);
  snprintf(fresh, sizeof fresh, "%s" HISTORY_NEW, path);
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
