/* The writer where the system says no: full disks, small address spaces, forks, signals, closed
 * descriptors. */
#include "support/test.h"

#include "base/words.h"
#include "trace/chunk.h"
#include "trace/chunk_file.h"
#include "trace/fixture.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MANY = TINY ? 5000 : 50000, SPACE_CHUNKS = 3 };

static bool write_sample(struct trace_writer *writer, uint32_t thread, uint64_t block) {
  struct trace_sample sample = {.time_ns = block, .thread = thread, .block = block, .size = block % 5000};
  sample.n_samples = 1;
  sample.words = malloc_words(sample.size);
  sample.stack = (uint32_t)(block % 1000);
  return tree_write_sample(writer, &sample);
}

struct count {
  uint64_t samples;
  struct trace_damage damage;
};

static struct count read_trace(const char *path) {
  struct trace_reader *reader;
  struct count count = {0};
  if (trace_reader_open(path, &reader)) fail_msg("%s", wn_last_error());
  struct trace_event event;
  while (trace_reader_next(reader, &event)) count.samples += event.kind == TRACE_SAMPLE;
  count.damage = *trace_reader_damage(reader);
  trace_reader_close(reader);
  assert_int_equal(count.damage.chunks_damaged, 0);
  return count;
}

static off_t size_of(const char *path) {
  struct stat found;
  assert_int_equal(stat(path, &found), 0);
  return found.st_size;
}

/* Runs `test` in a process of its own, since it changes what cannot be changed back. */
static void in_child(void (*test)(const char *path), const char *path) {
  pid_t child = fork();
  assert_true(child >= 0);
  if (!child) {
    test(path);
    _exit(0);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  if (status) fail_msg("the child ended with status %#x", (unsigned)status);
}

static void require(bool condition) {
  if (!condition) abort();
}

/* ---- space ---- */

/* Writes until nothing fits, and an end; every call answers, and the losses are told. */
static void fill(struct trace_writer *writer, uint64_t *written, uint64_t *lost) {
  *written = *lost = 0;
  errno = 77;
  for (uint64_t i = 0; i < MANY; i++) *(write_sample(writer, 1, i) ? written : lost) += 1;
  require(errno == 77);
  require(trace_writer_lost(writer) == *lost);
  struct trace_end end = {.time_ns = MANY, .thread = 1};
  require(trace_write_end(writer, &end));
}

static void fill_limited(const char *path, uint64_t limit) {
  struct trace_writer *writer = fixture_open(path, limit);
  uint64_t written, lost;
  fill(writer, &written, &lost);
  require(written > 0 && lost > 0);
  trace_writer_close(writer);
  struct count count = read_trace(path);
  require(count.samples == written && count.damage.records_lost == lost && count.damage.complete);
  require(size_of(path) <= SPACE_CHUNKS * CHUNK_BYTES);
}

static void fill_to_own_limit(const char *path) { fill_limited(path, SPACE_CHUNKS * CHUNK_BYTES + 100); }

static void fill_to_resource_limit(const char *path) {
  struct rlimit limit = {.rlim_cur = SPACE_CHUNKS * CHUNK_BYTES + 100, .rlim_max = RLIM_INFINITY};
  require(!setrlimit(RLIMIT_FSIZE, &limit));
  fill_limited(path, 0); /* SIGXFSZ would end this process */
}

static void the_file_stays_within_its_limit(void **state) {
  (void)state;
  in_child(fill_to_own_limit, fixture_path());
  unlink(fixture_path());
}

static void the_file_size_limit_of_the_process_raises_no_signal(void **state) {
  (void)state;
  in_child(fill_to_resource_limit, fixture_path());
  unlink(fixture_path());
}

static void begin_without_room(const char *path) {
  struct rlimit limit = {.rlim_cur = 100, .rlim_max = RLIM_INFINITY};
  require(!setrlimit(RLIMIT_FSIZE, &limit));
  struct trace_run run = fixture_run();
  struct trace_options options = {.path = path};
  struct trace_writer *writer;
  require(tree_writer_open(&options, &run, &fixture_source, &writer) == WN_EIO);
  require(strstr(wn_last_error(), "no room for a trace"));
  require(strstr(wn_last_error(), "the limit on the size of files was reached"));
  require(access(path, F_OK));
}

static void a_trace_that_cannot_begin_leaves_no_file(void **state) {
  (void)state;
  unlink(fixture_path());
  in_child(begin_without_room, fixture_path());
}

static void the_cause_of_a_loss_is_kept(void **state) {
  (void)state;
  in_child(fill_to_resource_limit, fixture_path());
  assert_int_equal(read_trace(fixture_path()).damage.loss_cause, TRACE_CAUSE_FILE_SIZE);
  unlink(fixture_path());
}

static void lose_millions(const char *path) {
  struct trace_writer *writer = fixture_open(path, SPACE_CHUNKS * CHUNK_BYTES);
  uint64_t written = 0, lost = 0;
  for (uint64_t i = 0; i < 2000000; i++) *(write_sample(writer, 1, i) ? &written : &lost) += 1;
  struct trace_loss loss = {.time_ns = TRACE_TIME_MOST, .thread = 1u << 31, .count = TRACE_AMOUNT_MOST};
  require(trace_write_loss(writer, &loss));
  struct trace_end end = {.time_ns = 0, .thread = 1, .code = INT32_MIN};
  require(trace_write_end(writer, &end));
  struct count count = read_trace(path);
  require(count.samples == written && count.damage.records_lost == lost + loss.count &&
          count.damage.complete);
}

static void the_end_is_told_after_millions_of_losses(void **state) {
  (void)state;
  in_child(lose_millions, fixture_path());
  unlink(fixture_path());
}

static void lose_blocks_when_full(const char *path) {
  struct trace_writer *writer = fixture_open(path, SPACE_CHUNKS * CHUNK_BYTES);
  struct trace_at at = {.time_ns = 1, .thread = 1};
  uint64_t written = 0, lost = 0;
  for (uint64_t i = 0; i < 500000; i++) {
    *(write_sample(writer, 1, i) ? &written : &lost) += 1;
    trace_lose(writer, &at, 3);
  }
  for (int i = 0; i < 500000; i++) trace_lose(writer, &at, 1);
  uint64_t told = read_trace(path).damage.records_lost;
  require(told >= 500000 && told < lost + 2000000);
  struct trace_end end = {.time_ns = 2, .thread = 1};
  require(trace_write_end(writer, &end));
  struct count count = read_trace(path);
  require(count.samples == written && count.damage.records_lost == lost + 2000000 && count.damage.complete);
}

static void blocks_that_are_not_followed_leave_room_for_the_end(void **state) {
  (void)state;
  in_child(lose_blocks_when_full, fixture_path());
  unlink(fixture_path());
}

static void kill_when_full(const char *path) {
  struct trace_writer *writer = fixture_open(path, SPACE_CHUNKS * CHUNK_BYTES);
  for (uint64_t i = 0; i < MANY; i++) write_sample(writer, 1, i);
  uint64_t lost = trace_writer_lost(writer);
  struct count count = read_trace(path); /* as if killed now */
  require(!count.damage.complete);
  require(count.damage.records_lost <= lost && count.damage.records_lost * 2 >= lost / 2);
}

static void a_program_killed_with_a_full_disk_told_its_losses(void **state) {
  (void)state;
  in_child(kill_when_full, fixture_path());
  unlink(fixture_path());
}

static void recover(const char *path) {
  struct rlimit limit = {.rlim_cur = SPACE_CHUNKS * CHUNK_BYTES, .rlim_max = RLIM_INFINITY};
  require(!setrlimit(RLIMIT_FSIZE, &limit));
  struct trace_writer *writer = fixture_open(path, 0);
  uint64_t i = 0, written = 0;
  while (!trace_writer_lost(writer)) written += write_sample(writer, 1, i++);
  limit.rlim_cur = RLIM_INFINITY;
  require(!setrlimit(RLIMIT_FSIZE, &limit));
  for (int more = 0; more < 1000; more++) written += write_sample(writer, 1, i++);
  uint64_t lost = trace_writer_lost(writer);
  require(lost < 200 && written + lost == i);
  struct count count = read_trace(path);
  require(count.samples == written && count.damage.records_lost == lost);
}

static void writing_goes_on_when_space_returns(void **state) {
  (void)state;
  in_child(recover, fixture_path());
  unlink(fixture_path());
}

static void write_in_little_address_space(const char *path) {
  struct rlimit limit = {.rlim_cur = 64u << 20, .rlim_max = RLIM_INFINITY};
  require(!setrlimit(RLIMIT_AS, &limit));
  struct trace_writer *writer = fixture_open(path, 0);
  for (uint64_t i = 0; i < 4 * MANY; i++) require(write_sample(writer, 1, i));
  require(read_trace(path).samples == 4 * MANY);
}

static void sixty_four_megabytes_of_address_space_are_enough(void **state) {
  (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  skip(); /* the sanitizer itself needs terabytes */
#endif
  in_child(write_in_little_address_space, fixture_path());
  unlink(fixture_path());
}

static void a_file_system_without_fallocate_gets_zeros(void **state) {
  (void)state;
  static struct chunk_file file;
  const char *path = fixture_path();
  assert_int_equal(chunk_file_open(&file, path, 2 * CHUNK_BYTES), WN_OK);
  file.can_allocate = false;
  struct taken_chunk taken;
  for (uint64_t i = 0; i < 2; i++) {
    assert_true(chunk_file_take(&file, i == 0, &taken, NULL));
    assert_int_equal(taken.sequence, i);
    while (taken.space < CHUNK_BYTES) assert_true(chunk_file_extend(&file, &taken, NULL));
    assert_false(chunk_file_extend(&file, &taken, NULL));
    unsigned char *chunk = chunk_file_map(&file, taken.sequence);
    assert_non_null(chunk);
    for (int at = 0; at < CHUNK_BYTES; at++) assert_int_equal(chunk[at], 0);
    chunk[0] = chunk[CHUNK_BYTES - 1] = 1;
    munmap(chunk, CHUNK_BYTES);
  }
  assert_false(chunk_file_take(&file, false, &taken, NULL));
  assert_int_equal(size_of(path), 2 * CHUNK_BYTES);
  chunk_file_close(&file);
  unlink(path);
}

static void huge_module(void *context, uint32_t module, struct trace_module *out) {
  (void)context;
  static char path[TRACE_PATH_MOST];
  memset(path, 'p', sizeof path);
  *out = (struct trace_module){.base = module, .path = {.bytes = path, .length = sizeof path}};
}

static void many_modules(void *context, uint32_t node, uint32_t *parent, uint32_t *module, uint64_t *offset) {
  (void)context;
  *parent = node - 1;
  *module = node;
  *offset = node;
}

static void a_stack_too_large_for_a_chunk_leaves_its_sample(void **state) {
  (void)state;
  const struct tree_source source = {.node = many_modules, .module = huge_module};
  struct trace_options options = {.path = fixture_path()};
  struct trace_run run = fixture_run();
  struct trace_writer *writer;
  assert_int_equal(tree_writer_open(&options, &run, &source, &writer), WN_OK);
  struct trace_sample sample = {
      .time_ns = 5, .thread = 1, .block = 1, .n_samples = 1, .words = 1, .stack = 100};
  assert_true(tree_write_sample(writer, &sample));
  sample.stack = 2;
  assert_true(tree_write_sample(writer, &sample));
  assert_int_equal(trace_writer_lost(writer), 0);
  trace_writer_close(writer);
  struct count count = read_trace(fixture_path());
  assert_int_equal(count.samples, 2);
  assert_int_equal(count.damage.stacks_lost, 1);
  unlink(fixture_path());
}

/* ---- other programs, children ---- */

static void a_file_that_is_being_written_is_not_taken(void **state) {
  (void)state;
  struct trace_writer *writer = fixture_open(fixture_path(), 0), *second;
  struct trace_options options = {.path = fixture_path()};
  struct trace_run run = fixture_run();
  assert_int_equal(tree_writer_open(&options, &run, &fixture_source, &second), WN_EBUSY);
  assert_true(write_sample(writer, 1, 1));
  trace_writer_close(writer);
  assert_int_equal(read_trace(fixture_path()).samples, 1);
  options.path = "no/such/folder/x.trace";
  assert_int_equal(tree_writer_open(&options, &run, &fixture_source, &second), WN_EIO);
  options = (struct trace_options){.path = "/dev/null"};
  assert_int_equal(tree_writer_open(&options, &run, &fixture_source, &second), WN_EINVAL);
  unlink(fixture_path());
}

/* This process opens both, so they have one process number. */
static void in_a_folder_each_trace_is_a_new_file(void **state) {
  (void)state;
  char folder[128], first[PATH_MAX];
  snprintf(folder, sizeof folder, "%s.folder/", fixture_path());
  struct trace_options options = {.path = folder};
  struct trace_run run = fixture_run();
  struct trace_writer *writers[2];
  assert_int_equal(tree_writer_open(&options, &run, &fixture_source, &writers[0]),
                   WN_EIO); /* there is none */
  assert_int_equal(mkdir(folder, 0700), 0);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(tree_writer_open(&options, &run, &fixture_source, &writers[i]), WN_OK);
    assert_true(write_sample(writers[i], 1, 1));
  }
  strcpy(first, trace_writer_path(writers[0]));
  assert_string_not_equal(first, trace_writer_path(writers[1]));
  assert_non_null(strstr(first, folder));
  for (int i = 0; i < 2; i++) {
    assert_int_equal(read_trace(trace_writer_path(writers[i])).samples, 1);
    unlink(trace_writer_path(writers[i]));
    trace_writer_close(writers[i]);
  }
  assert_int_equal(rmdir(folder), 0);
}

static void *hold_shortly(void *held) {
  usleep(30000);
  close(*(int *)held);
  return NULL;
}

/* A reader that asks whether somebody writes, or cuts what is left of an earlier program of the
 * same process. */
static void a_lock_that_a_reader_holds_for_a_moment_is_waited_for(void **state) {
  (void)state;
  for (int kind = 0; kind < 2; kind++) {
    pthread_t reader;
    trace_writer_close(fixture_open(fixture_path(), 0));
    int held = open(fixture_path(), O_RDONLY);
    assert_int_equal(flock(held, (kind ? LOCK_EX : LOCK_SH) | LOCK_NB), 0);
    assert_int_equal(pthread_create(&reader, NULL, hold_shortly, &held), 0);
    struct trace_writer *writer = fixture_open(fixture_path(), 0);
    pthread_join(reader, NULL);
    assert_true(write_sample(writer, 1, 1));
    trace_writer_close(writer);
    assert_int_equal(read_trace(fixture_path()).samples, 1);
  }
  unlink(fixture_path());
}

struct held {
  const char *path;
  int file;
};

static void *remove_shortly(void *argument) {
  const struct held *held = argument;
  usleep(30000);
  unlink(held->path);
  close(held->file);
  return NULL;
}

/* The command removes what a process has left that became another program, under the file's
 * lock. */
static void a_file_that_is_removed_while_its_lock_is_waited_for_is_created_again(void **state) {
  (void)state;
  pthread_t remover;
  const char *path = fixture_path();
  trace_writer_close(fixture_open(path, 0));
  struct held held = {path, open(path, O_RDONLY)};
  assert_int_equal(flock(held.file, LOCK_EX | LOCK_NB), 0);
  assert_int_equal(pthread_create(&remover, NULL, remove_shortly, &held), 0);
  struct trace_writer *writer = fixture_open(path, 0);
  pthread_join(remover, NULL);
  assert_true(write_sample(writer, 1, 1));
  trace_writer_close(writer);
  assert_int_equal(read_trace(path).samples, 1);
  unlink(path);
}

static void a_forked_child_that_forgets_writes_nothing(void **state) {
  (void)state;
  const char *path = fixture_path();
  struct trace_writer *writer = fixture_open(path, 0);
  assert_true(write_sample(writer, 1, 1));
  pid_t child = fork();
  if (!child) {
    trace_writer_forget(writer);
    for (uint64_t i = 0; i < MANY; i++) require(!write_sample(writer, 1, i));
    struct trace_end end = {.time_ns = 9};
    require(!trace_write_end(writer, &end));
    _exit(0);
  }
  for (uint64_t i = 2; i < MANY; i++) assert_true(write_sample(writer, 1, i));
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  trace_writer_close(writer);
  struct count count = read_trace(path);
  assert_int_equal(count.samples, MANY - 1);
  assert_false(count.damage.complete);
  unlink(path);
}

static int descriptor_of_file(const char *path) {
  struct stat wanted, found;
  require(!stat(path, &wanted));
  for (int fd = 3; fd < 2000; fd++)
    if (!fstat(fd, &found) && found.st_ino == wanted.st_ino && found.st_dev == wanted.st_dev) return fd;
  return -1;
}

static void a_closed_and_reused_descriptor_is_not_written_to(void **state) {
  (void)state;
  const char *path = fixture_path();
  struct trace_writer *writer = fixture_open(path, 0);
  int ours = descriptor_of_file(path);
  assert_true(ours > 2);
  char name[] = "other_XXXXXX";
  int other = mkstemp(name);
  assert_int_equal(dup2(other, ours), ours);
  for (uint64_t i = 0; i < MANY; i++) assert_true(write_sample(writer, 1, i));
  trace_writer_close(writer);
  assert_int_equal(size_of(name), 0);
  assert_true(fcntl(ours, F_GETFD) >= 0); /* the program's now */
  close(ours);
  close(other);
  assert_int_equal(read_trace(path).samples, MANY);
  unlink(name);
  unlink(path);
}

/* ---- signals and threads ---- */

static struct trace_writer *storm_writer;
static _Atomic(uint64_t) storm_written;
static _Atomic(bool) storm_over;

static void arm_storm(void) {
  struct itimerval soon = {.it_value.tv_usec = 50};
  setitimer(ITIMER_REAL, &soon, NULL);
}

/* Arms the next one itself, so that the program gets its 50 microseconds however slow the handler
 * is. */
static void write_in_handler(int signal) {
  (void)signal;
  int saved = errno;
  for (uint64_t i = 0; i < 20; i++) storm_written += write_sample(storm_writer, 2, (storm_written << 5) + i);
  require(errno == saved);
  if (!storm_over) arm_storm();
}

static void a_signal_handler_may_write_during_a_write(void **state) {
  (void)state;
  storm_writer = fixture_open(fixture_path(), 0);
  storm_written = 0;
  struct sigaction action = {.sa_handler = write_in_handler}, before;
  struct itimerval off = {0};
  sigaction(SIGALRM, &action, &before);
  arm_storm();
  uint64_t written = 0;
  for (uint64_t i = 0; i < 4 * MANY; i++) {
    errno = (int)(i % 100);
    written += write_sample(storm_writer, 1, i);
    assert_int_equal(errno, i % 100);
  }
  storm_over = true;
  setitimer(ITIMER_REAL, &off, NULL);
  sigaction(SIGALRM, &before, NULL);
  assert_int_equal(written, 4 * MANY);
  assert_true(storm_written > 0);
  assert_int_equal(trace_writer_lost(storm_writer), 0);
  trace_writer_close(storm_writer);
  assert_int_equal(read_trace(fixture_path()).samples, written + storm_written);
  unlink(fixture_path());
}

static jmp_buf escape;

static void leave_module(void *context, uint32_t module, struct trace_module *out) {
  (void)context, (void)module, (void)out;
  longjmp(escape, 1);
}

/* As a handler does that interrupts a write and leaves with longjmp. */
static void a_write_that_is_left_by_longjmp_costs_one_stream(void **state) {
  enum { STREAMS = 64 };
  (void)state;
  const struct tree_source source = {.node = fixture_source.node, .module = leave_module};
  struct trace_options options = {.path = fixture_path()};
  struct trace_run run = fixture_run();
  struct trace_writer *writer;
  assert_int_equal(tree_writer_open(&options, &run, &source, &writer), WN_OK);
  volatile int left = 0;
  struct trace_free event = {.time_ns = 1, .thread = 1, .block = 7};
  if (setjmp(escape)) {
    left++;
    if (left < STREAMS) assert_true(trace_write_free(writer, &event)); /* by another stream */
  }
  if (left < STREAMS) write_sample(writer, 1, 999);
  assert_int_equal(left, STREAMS);
  assert_false(trace_write_free(writer, &event));
  assert_false(write_sample(writer, 1, 999));
  assert_int_equal(trace_writer_lost(writer), 2);
  trace_writer_close(writer);
  assert_int_equal(read_trace(fixture_path()).samples, 0);
  unlink(fixture_path());
}

struct short_thread {
  struct trace_writer *writer;
  uint32_t number;
};

static void *live_shortly(void *argument) {
  struct short_thread *thread = argument;
  for (uint64_t i = 0; i < 3; i++) require(write_sample(thread->writer, thread->number, i));
  return NULL;
}

static void short_threads_share_few_chunks(void **state) {
  (void)state;
  enum { SHORT_THREADS = 1000 };
  struct trace_writer *writer = fixture_open(fixture_path(), 0);
  for (uint32_t i = 0; i < SHORT_THREADS; i += 2) {
    pthread_t ids[2];
    struct short_thread threads[2] = {{writer, i}, {writer, i + 1}};
    for (int j = 0; j < 2; j++) assert_int_equal(pthread_create(&ids[j], NULL, live_shortly, &threads[j]), 0);
    for (int j = 0; j < 2; j++) pthread_join(ids[j], NULL);
  }
  trace_writer_close(writer);
  struct count count = read_trace(fixture_path());
  assert_int_equal(count.samples, 3 * SHORT_THREADS);
  if (!TINY) assert_in_range(count.damage.chunks_read, 1, 4);
  unlink(fixture_path());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_file_stays_within_its_limit),
      cmocka_unit_test(a_trace_that_cannot_begin_leaves_no_file),
      cmocka_unit_test(the_cause_of_a_loss_is_kept),
      cmocka_unit_test(the_file_size_limit_of_the_process_raises_no_signal),
      cmocka_unit_test(the_end_is_told_after_millions_of_losses),
      cmocka_unit_test(blocks_that_are_not_followed_leave_room_for_the_end),
      cmocka_unit_test(a_program_killed_with_a_full_disk_told_its_losses),
      cmocka_unit_test(writing_goes_on_when_space_returns),
      cmocka_unit_test(sixty_four_megabytes_of_address_space_are_enough),
      cmocka_unit_test(a_file_system_without_fallocate_gets_zeros),
      cmocka_unit_test(a_stack_too_large_for_a_chunk_leaves_its_sample),
      cmocka_unit_test(a_file_that_is_being_written_is_not_taken),
      cmocka_unit_test(in_a_folder_each_trace_is_a_new_file),
      cmocka_unit_test(a_lock_that_a_reader_holds_for_a_moment_is_waited_for),
      cmocka_unit_test(a_file_that_is_removed_while_its_lock_is_waited_for_is_created_again),
      cmocka_unit_test(a_forked_child_that_forgets_writes_nothing),
      cmocka_unit_test(a_closed_and_reused_descriptor_is_not_written_to),
      cmocka_unit_test(a_signal_handler_may_write_during_a_write),
      cmocka_unit_test(a_write_that_is_left_by_longjmp_costs_one_stream),
      cmocka_unit_test(short_threads_share_few_chunks),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
