/* A program that is killed at any instant leaves a trace that has every record it completed. */
#include "support/runs.h"
#include "support/test.h"

#include "base/os.h"
#include "base/words.h"
#include "trace/chunk.h"
#include "trace/fixture.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 3, STACKS = 400, LONGEST_NS = 1000000 };

/* How many records each thread knows to be complete; shared with the program that is killed. */
struct progress {
  _Atomic(uint64_t) written[THREADS];
};

struct worker {
  struct trace_writer *writer;
  struct progress *progress;
  uint32_t thread;
};

static void *write_for_ever(void *argument) {
  struct worker *worker = argument;
  for (uint64_t i = 0;; i++) {
    struct trace_sample sample = {
        .time_ns = i, .thread = worker->thread, .block = i, .size = i % 999, .n_samples = 1};
    sample.words = malloc_words(sample.size);
    sample.stack = (uint32_t)(i * 7 % STACKS);
    if (!tree_write_sample(worker->writer, &sample)) abort();
    atomic_store_explicit(&worker->progress->written[worker->thread], i + 1, memory_order_release);
  }
  return NULL;
}

_Noreturn static void run_program(const char *path, struct progress *progress) {
  struct trace_writer *writer = fixture_open(path, 0);
  struct worker workers[THREADS];
  pthread_t thread;
  for (uint32_t i = 0; i < THREADS; i++) {
    workers[i] = (struct worker){.writer = writer, .progress = progress, .thread = i};
    if (pthread_create(&thread, NULL, write_for_ever, &workers[i])) abort();
  }
  for (;;) pause();
}

/* So that half of the programs die while they write, however slow this machine is; the rest may die
 * earlier. */
static void await_first_record(const struct progress *progress) {
  const struct timespec pause = {.tv_nsec = 50000};
  uint64_t written = 0;
  while (!written) {
    nanosleep(&pause, NULL);
    for (int i = 0; i < THREADS; i++) written += progress->written[i];
  }
}

static void kill_after(pid_t program, uint64_t ns) {
  const struct timespec time = {.tv_nsec = (long)ns};
  nanosleep(&time, NULL);
  kill(program, SIGKILL);
  int status;
  assert_int_equal(waitpid(program, &status, 0), program);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* The records of a thread carry the numbers 0, 1, 2, ...; none of those completed may be missing or
 * twice there. */
static void check_trace(const char *path, const struct progress *progress) {
  struct trace_reader *reader;
  if (trace_reader_open(path, &reader)) {
    for (int i = 0; i < THREADS; i++) assert_int_equal(progress->written[i], 0);
    return;
  }
  struct trace_event event;
  uint64_t found[THREADS] = {0}, sum[THREADS] = {0};
  uint32_t known[STACKS] = {0};
  while (trace_reader_next(reader, &event)) {
    if (event.kind != TRACE_SAMPLE || event.at.thread >= THREADS) fail_msg("a record that nobody wrote");
    uint32_t written = (uint32_t)(event.sample.block * 7 % STACKS);
    if (!fixture_same_known_stack(reader, known, event.sample.stack, written)) fail_msg("stack %u", written);
    found[event.at.thread]++;
    sum[event.at.thread] += event.sample.block;
  }
  assert_int_equal(trace_reader_damage(reader)->chunks_damaged, 0);
  for (int i = 0; i < THREADS; i++) {
    assert_in_range(found[i], progress->written[i], progress->written[i] + 1);
    assert_int_equal(sum[i], found[i] ? found[i] * (found[i] - 1) / 2 : 0);
  }
  trace_reader_close(reader);
}

static void a_thousand_killed_programs_lose_no_completed_record(void **state) {
  (void)state;
  const char *path = fixture_path();
  struct progress *progress =
      mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_true(progress != MAP_FAILED);
  struct random random;
  random_seed(&random, os_monotonic_ns(), 0, 0);
  int runs = runs_of(1000);
  uint64_t records = 0;
  for (int run = 0; run < runs; run++) {
    unlink(path);
    for (int i = 0; i < THREADS; i++) progress->written[i] = 0;
    pid_t program = fork();
    assert_true(program >= 0);
    if (!program) run_program(path, progress);
    if (run % 2) await_first_record(progress);
    kill_after(program, random_bits(&random) % LONGEST_NS);
    if (!access(path, F_OK)) check_trace(path, progress);
    for (int i = 0; i < THREADS; i++) records += progress->written[i];
  }
  print_message("%d programs killed, %llu completed records found\n", runs, (unsigned long long)records);
  assert_true(records > (uint64_t)runs);
  munmap(progress, sizeof *progress);
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_thousand_killed_programs_lose_no_completed_record)};
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
