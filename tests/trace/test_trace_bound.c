/* Seals, and a trace that never takes more disk space than its bound. */
#include "support/test.h"

#include "base/os.h"
#include "base/words.h"
#include "trace/checkpoint.h"
#include "trace/chunk.h"
#include "trace/fixture.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  THREADS = 8,
  LAG = 64,           /* LAG_CHUNKS of writer.c */
  CHUNKS_MOST = 8192, /* of a trace here */
  BOUND_CHUNKS = 32,
  KILLS = 20,
  KILLED_CHUNKS = 24,
  LONGEST_NS = 20 * 1000 * 1000
};

/* In child processes too. */
static char path[256];

static bool write_at(struct trace_writer *writer, uint32_t thread, uint64_t block, uint64_t time) {
  struct trace_sample sample = {.time_ns = time, .thread = thread, .block = block, .size = block % 5000};
  sample.n_samples = 1;
  sample.words = malloc_words(sample.size);
  sample.stack = (uint32_t)(block % 50);
  return tree_write_sample(writer, &sample);
}

static struct trace_writer *open_bound(uint64_t bound_bytes) {
  struct trace_options options = {.path = path, .bound_bytes = bound_bytes};
  struct trace_run run = fixture_run();
  struct trace_writer *writer = NULL;
  if (tree_writer_open(&options, &run, &fixture_source, &writer)) fail_msg("%s", wn_last_error());
  return writer;
}

static uint64_t disk_bytes(void) {
  struct stat file;
  if (stat(path, &file)) abort();
  return (uint64_t)file.st_blocks * 512;
}

static uint64_t file_bytes(void) {
  struct stat file;
  return stat(path, &file) ? 0 : (uint64_t)file.st_size;
}

/* ---- what is in the chunks of a trace ---- */

struct chunk_found {
  bool used, sealed;
  uint64_t until, latest; /* by the seal, and by the records */
};

struct found {
  struct chunk_found chunks[CHUNKS_MOST];
  uint64_t count, used, sealed, samples, ends, dropped;
  uint64_t last_used;
  struct trace_dropped drops[CHUNKS_MOST];
  struct trace_damage damage;
};
static struct found found;

/* Then a chunk may have no room for its last checkpoint. */
static bool reserves_are_full;

/* A seal is the last record, and behind the last checkpoint. */
static void check_seal(const unsigned char *bytes, uint32_t used, struct chunk_found *chunk) {
  unsigned char seal[SEAL_BYTES];
  size_t end = CHUNK_HEADER_BYTES + used, work = SIZE_MAX;
  chunk_seal_put(seal, 0);
  const unsigned char *mark = memmem(bytes, end, seal, SEAL_BYTES - 8);
  chunk->sealed = chunk_is_sealed(bytes, used, &chunk->until);
  if (mark != (chunk->sealed ? bytes + end - SEAL_BYTES : NULL)) fail_msg("records behind a seal");
  if (!chunk->sealed || used == SEAL_BYTES) return;
  struct segment segment = {.end = CHUNK_HEADER_BYTES};
  while (segment_find(bytes, end, segment.end, &work, &segment)) {}
  if (!reserves_are_full) assert_int_equal(segment.end, end - SEAL_BYTES);
}

static void read_chunks(void) {
  static _Alignas(8) unsigned char bytes[CHUNK_BYTES];
  int file = open(path, O_RDONLY);
  assert_true(file >= 0);
  for (uint64_t i = 0;; i++) {
    uint32_t used;
    size_t count = sizeof bytes;
    enum chunk_state state = chunk_read(file, bytes, i * CHUNK_BYTES, &count, &used);
    if (!count) break;
    assert_true(i < CHUNKS_MOST);
    found.count = i + 1;
    if (state == CHUNK_UNUSED) continue;
    assert_int_equal(state, CHUNK_WHOLE);
    found.chunks[i].used = true;
    found.last_used = i;
    check_seal(bytes, used, &found.chunks[i]);
    found.used++;
    found.sealed += found.chunks[i].sealed;
  }
  close(file);
}

static void read_events(void (*see)(const struct trace_event *event)) {
  struct trace_reader *reader;
  if (trace_reader_open(path, &reader)) fail_msg("%s", wn_last_error());
  assert_int_equal(trace_reader_run(reader)->pid, fixture_run().pid); /* in chunk 0 */
  struct trace_event event;
  while (trace_reader_next(reader, &event)) {
    struct chunk_found *chunk = &found.chunks[trace_reader_tail(reader).offset / CHUNK_BYTES];
    if (event.at.time_ns > chunk->latest) chunk->latest = event.at.time_ns;
    found.samples += event.kind == TRACE_SAMPLE;
    found.ends += event.kind == TRACE_END;
    if (event.kind == TRACE_DROPPED) found.drops[found.dropped++] = event.dropped;
    if (see) see(&event);
  }
  found.damage = *trace_reader_damage(reader);
  assert_int_equal(found.damage.chunks_damaged, 0);
  trace_reader_close(reader);
}

/* Each seal has the latest time of its chunk; what is said to be dropped is no more. */
static void read_all(void (*see)(const struct trace_event *event)) {
  found = (struct found){0};
  read_chunks();
  read_events(see);
  assert_true(found.chunks[0].used);
  for (uint64_t i = 0; i < found.count; i++)
    if (found.chunks[i].sealed) assert_int_equal(found.chunks[i].until, found.chunks[i].latest);
  for (uint64_t i = 0; i < found.dropped; i++) {
    assert_in_range(found.drops[i].chunk, 1, found.last_used);
    assert_false(found.chunks[found.drops[i].chunk].used);
    assert_true(found.drops[i].from_ns <= found.drops[i].until_ns);
  }
}

/* ---- threads ---- */

struct worker {
  struct trace_writer *writer;
  uint32_t number;
  uint64_t records;
};

/* The times of one stream go back now and then. */
static void *write_many(void *argument) {
  const struct worker *worker = argument;
  for (uint64_t i = 1; i <= worker->records; i++)
    write_at(worker->writer, worker->number, i * THREADS + worker->number, 1000 + i - i % 7 * 2);
  return NULL;
}

static void write_by_threads(struct trace_writer *writer, uint64_t records) {
  pthread_t threads[THREADS];
  struct worker workers[THREADS];
  for (uint32_t i = 0; i < THREADS; i++) {
    workers[i] = (struct worker){writer, i, records};
    assert_int_equal(pthread_create(&threads[i], NULL, write_many, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

/* ---- seals ---- */

static void all_chunks_that_were_left_are_sealed(void **state) {
  (void)state;
  enum { RECORDS = TINY ? 2000 : 40000, OPEN_MOST = 2 * THREADS };
  struct trace_writer *writer = open_bound(0);
  write_by_threads(writer, RECORDS);
  assert_int_equal(trace_writer_lost(writer), 0);
  trace_writer_close(writer);
  read_all(NULL);
  assert_int_equal(found.samples, THREADS * RECORDS);
  assert_true(found.used - found.sealed <= OPEN_MOST);
  assert_true(found.sealed > OPEN_MOST);
  unlink(path);
}

static void write_chunks(struct trace_writer *writer, uint64_t chunks) {
  static uint64_t block;
  for (uint64_t end = trace_writer_bytes(writer) + chunks * CHUNK_BYTES; trace_writer_bytes(writer) < end;) {
    block++;
    if (!write_at(writer, 1, block, block)) fail_msg("a record is lost");
  }
}

static bool is_sealed(uint64_t sequence) {
  found = (struct found){0};
  read_chunks();
  return found.chunks[sequence].sealed;
}

/* An exec that is tried keeps stream 0, so what follows goes into stream 1. */
static unsigned begin_exec(struct trace_writer *writer) {
  struct trace_exec exec = {.time_ns = 5, .thread = 1, .path = trace_text_of("program")};
  unsigned number = trace_write_exec(writer, &exec);
  assert_int_equal(number, 1);
  assert_true(write_at(writer, 1, 1, 6));
  return number;
}

static void *write_one(void *writer) {
  if (!write_at(writer, 2, 7, 7)) abort();
  return NULL;
}

static void a_stream_that_lags_is_sealed(void **state) {
  (void)state;
  struct trace_writer *writer = open_bound(0);
  trace_exec_failed(writer, begin_exec(writer));
  write_chunks(writer, LAG / 2);
  assert_false(is_sealed(0));
  write_chunks(writer, 2 * LAG);
  assert_true(is_sealed(0));
  pthread_t thread; /* its first stream is number 0, which takes another chunk */
  assert_int_equal(pthread_create(&thread, NULL, write_one, writer), 0);
  pthread_join(thread, NULL);
  struct trace_end end = {.time_ns = 1 << 30, .thread = 1};
  assert_true(trace_write_end(writer, &end));
  trace_writer_close(writer);
  read_all(NULL);
  assert_int_equal(found.ends, 1);
  assert_int_equal(found.used - found.sealed, 2);
  unlink(path);
}

static void a_stream_with_an_exec_is_not_sealed(void **state) {
  (void)state;
  struct trace_writer *writer = open_bound(0);
  unsigned number = begin_exec(writer);
  write_chunks(writer, 3 * LAG);
  assert_false(is_sealed(0));
  read_all(NULL);
  assert_int_equal(found.ends, 1);
  trace_exec_failed(writer, number);
  read_all(NULL);
  assert_int_equal(found.ends, 0);
  write_chunks(writer, LAG / 2);
  assert_true(is_sealed(0));
  trace_writer_close(writer);
  read_all(NULL);
  assert_int_equal(found.ends, 0);
  unlink(path);
}

/* Fills a chunk to its last byte: losses in the reserve, and the end. */
static void a_full_reserve_leaves_room_for_the_seal(void **state) {
  (void)state;
  struct trace_writer *writer = open_bound(0);
  struct trace_loss loss = {.thread = 1, .count = UINT32_MAX, .reason = TRACE_LOSS_CALLER};
  struct trace_end end = {.thread = 1, .code = INT32_MIN, .peak_bytes = TRACE_AMOUNT_MOST};
  for (uint64_t i = 1; i < 20000; i++) {
    loss.time_ns = i << 40;
    assert_true(write_at(writer, (uint32_t)i, i << 50, i << 40));
    if (i % 5 == 0) assert_true(trace_write_loss(writer, &loss));
    end.time_ns = loss.time_ns;
    if (i % 50 == 0) assert_true(trace_write_end(writer, &end));
  }
  trace_writer_close(writer);
  found = (struct found){0};
  reserves_are_full = true;
  read_chunks();
  reserves_are_full = false;
  assert_in_range(found.used - found.sealed, 1, 3); /* the chunks that the streams have */
  unlink(path);
}

static void an_end_that_is_added_is_not_behind_a_seal(void **state) {
  (void)state;
  struct trace_writer *writer = open_bound(0);
  write_chunks(writer, 10);
  trace_writer_close(writer);
  assert_int_equal(truncate(path, 3 * CHUNK_BYTES), 0);
  assert_true(is_sealed(2));
  struct trace_end end = {.kind = TRACE_END_SIGNAL, .code = 9};
  struct trace_totals totals;
  assert_int_equal(trace_finish_with(path, &(struct trace_finishing){.end = &end}, &totals), WN_OK);
  assert_true(totals.damage.complete);
  read_all(NULL);
  assert_int_equal(found.ends, 1);
  assert_int_equal(found.used, 4);
  unlink(path);
}

/* ---- the bound ---- */

static _Atomic(bool) watched_over;

static void *watch(void *most) {
  while (!watched_over) {
    uint64_t now = disk_bytes();
    if (now > *(uint64_t *)most) *(uint64_t *)most = now;
  }
  return NULL;
}

static void a_bound_holds_under_many_threads(void **state) {
  (void)state;
  enum { RECORDS = TINY ? 50000 : 120000 };
  uint64_t most = 0, bound = BOUND_CHUNKS * CHUNK_BYTES;
  pthread_t watcher;
  struct trace_writer *writer = open_bound(bound);
  watched_over = false;
  assert_int_equal(pthread_create(&watcher, NULL, watch, &most), 0);
  write_by_threads(writer, RECORDS);
  watched_over = true;
  pthread_join(watcher, NULL);
  print_message("%llu of %llu bytes at most, %llu records lost\n", (unsigned long long)most,
                (unsigned long long)bound, (unsigned long long)trace_writer_lost(writer));
  assert_true(most <= bound);
  assert_true(trace_writer_bytes(writer) > 2 * bound);
  assert_int_equal(trace_writer_lost(writer), 0);
  trace_writer_close(writer);
  read_all(NULL);
  assert_true(found.dropped > 0);
  assert_in_range(disk_bytes(), bound / 2, bound);
  unlink(path);
}

/* The bound is of bytes: the first chunk of a stream has one page at first, so more chunks may be in
 * use than whole ones fit. */
static void a_bound_counts_the_pages_of_small_chunks(void **state) {
  (void)state;
  enum { SMALL = 8 };
  uint64_t bound = BOUND_CHUNKS * CHUNK_BYTES;
  struct trace_writer *writer = open_bound(bound);
  for (uint32_t i = 1; i <= SMALL; i++) {
    struct trace_exec exec = {.time_ns = i, .thread = 1, .path = trace_text_of("program")};
    assert_true(write_at(writer, 1, i, i));
    assert_true(trace_write_exec(writer, &exec) > 0); /* keeps a stream and its chunk */
  }
  write_chunks(writer, 2 * BOUND_CHUNKS);
  assert_in_range(disk_bytes(), bound / 2, bound);
  trace_writer_close(writer);
  read_all(NULL);
  assert_true(found.dropped > 0);
  if (os_page_bytes() < CHUNK_BYTES) assert_true(found.used > BOUND_CHUNKS);
  unlink(path);
}

/* By one thread, whose records have the times 1, 2, 3, ... */
enum { ORDERED = TINY ? 20000 : 300000 };
static bool seen[ORDERED + 1];
static void see(const struct trace_event *event) {
  if (event->kind == TRACE_SAMPLE) seen[event->at.time_ns] = true;
}

static bool is_dropped(uint64_t time) {
  for (uint64_t i = 0; i < found.dropped; i++)
    if (time >= found.drops[i].from_ns && time <= found.drops[i].until_ns) return true;
  return false;
}

/* So few that no record of what was dropped is dropped itself. */
static void what_is_dropped_is_told_exactly(void **state) {
  (void)state;
  struct trace_writer *writer = open_bound(10 * CHUNK_BYTES);
  for (uint64_t i = 1; i <= ORDERED && trace_writer_bytes(writer) < 13 * CHUNK_BYTES; i++)
    assert_true(write_at(writer, 1, i, i));
  trace_writer_close(writer);
  memset(seen, 0, sizeof seen);
  read_all(see);
  assert_true(found.dropped >= 3);
  for (uint64_t i = 0; i < found.dropped; i++) assert_int_equal(found.drops[i].chunk, i + 1);
  uint64_t last = ORDERED;
  while (!seen[last]) last--;
  for (uint64_t i = 1; i <= last; i++)
    if (seen[i] == is_dropped(i)) fail_msg("the record of time %d", (int)i);
  unlink(path);
}

/* Then their numbers tell, and so does the time since when chunks were dropped. */
static void what_is_dropped_is_told_if_that_is_dropped_too(void **state) {
  (void)state;
  struct trace_writer *writer = open_bound(10 * CHUNK_BYTES);
  for (uint64_t i = 1; i <= ORDERED; i++) assert_true(write_at(writer, 1, i, i));
  assert_true(trace_writer_bytes(writer) > 20 * CHUNK_BYTES);
  trace_writer_close(writer);
  memset(seen, 0, sizeof seen);
  read_all(see);
  assert_true(found.damage.chunks_dropped > found.dropped);
  assert_int_equal(found.damage.dropped.count, 1);
  assert_false(found.damage.lacks_history);
  const struct trace_time_range *range = found.damage.dropped.of;
  for (uint64_t i = 1; i <= ORDERED; i++)
    if (seen[i] == (i >= range->from_ns && i <= range->until_ns)) fail_msg("the record of time %d", (int)i);
  unlink(path);
}

/* What another process has taken over is a hole, of which nothing is told. */
static void holes_of_others_are_not_told(void **state) {
  (void)state;
  struct trace_writer *writer = open_bound(10 * CHUNK_BYTES);
  write_chunks(writer, 6);
  int file = open(path, O_RDWR);
  assert_int_equal(fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, CHUNK_BYTES, 2 * CHUNK_BYTES),
                   0);
  close(file);
  write_chunks(writer, 9);
  trace_writer_close(writer);
  read_all(NULL);
  assert_true(found.dropped > 0);
  for (uint64_t i = 0; i < found.dropped; i++) assert_true(found.drops[i].chunk > 2);
  unlink(path);
}

/* Streams that are in use for ever keep their chunks; the others go on. */
static void an_open_chunk_is_not_dropped(void **state) {
  (void)state;
  struct trace_writer *writer = open_bound(12 * CHUNK_BYTES);
  unsigned number = begin_exec(writer);
  struct trace_exec exec = {.time_ns = 5, .thread = 1, .path = trace_text_of("program")};
  unsigned second = trace_write_exec(writer, &exec);
  assert_int_equal(second, 2);
  write_chunks(writer, 3 * LAG);
  read_all(NULL);
  /* One of the two keeps chunk 1. The other one keeps chunk 0 or 2: which stream an earlier case used last
   * decides. */
  assert_true(found.chunks[0].used && found.chunks[1].used && !found.chunks[3].used);
  assert_int_equal(found.ends, 2);
  trace_exec_failed(writer, number);
  trace_exec_failed(writer, second);
  write_chunks(writer, 12);
  trace_writer_close(writer);
  read_all(NULL);
  assert_false(found.chunks[1].used);
  assert_int_equal(found.ends, 0);
  unlink(path);
}

/* ---- kills and signals ---- */

_Noreturn static void run_program(void) {
  struct trace_writer *writer = open_bound(KILLED_CHUNKS * CHUNK_BYTES);
  pthread_t thread;
  struct worker workers[3];
  for (uint32_t i = 0; i < 3; i++) {
    workers[i] = (struct worker){writer, i, UINT64_MAX};
    if (pthread_create(&thread, NULL, write_many, &workers[i])) abort();
  }
  for (;;) pause();
}

static void a_killed_program_leaves_a_whole_trace_within_its_bound(void **state) {
  (void)state;
  struct random random;
  random_seed(&random, os_monotonic_ns(), 0, 0);
  uint64_t with_drops = 0;
  for (int i = 0; i < KILLS; i++) {
    unlink(path);
    pid_t program = fork();
    assert_true(program >= 0);
    if (!program) run_program();
    /* The first chunk is whole once there is a second one. */
    while (file_bytes() < (i % 2 ? 2 * KILLED_CHUNKS : 2) * (uint64_t)CHUNK_BYTES) sched_yield();
    const struct timespec time = {.tv_nsec = (long)(random_bits(&random) % LONGEST_NS)};
    nanosleep(&time, NULL);
    kill(program, SIGKILL);
    waitpid(program, NULL, 0);
    assert_true(disk_bytes() <= KILLED_CHUNKS * CHUNK_BYTES);
    read_all(NULL);
    with_drops += found.dropped > 0;
  }
  print_message("%llu of %d programs were killed after a chunk was dropped\n", (unsigned long long)with_drops,
                KILLS);
  unlink(path);
}

static struct trace_writer *storm_writer;
static _Atomic(uint64_t) storms;

static void write_in_handler(int signal) {
  (void)signal;
  int saved = errno;
  for (uint64_t i = 0; i < 20; i++) write_at(storm_writer, 2, i, 50000 + i);
  if (errno != saved) abort();
  storms++;
}

static void a_signal_handler_may_write_while_a_chunk_is_dropped(void **state) {
  (void)state;
  uint64_t bound = 16 * CHUNK_BYTES, i = 0;
  storm_writer = open_bound(bound);
  struct sigaction action = {.sa_handler = write_in_handler}, before;
  struct itimerval often = {.it_value.tv_usec = 50, .it_interval.tv_usec = 200}, off = {0};
  sigaction(SIGALRM, &action, &before);
  setitimer(ITIMER_REAL, &often, NULL);
  for (; trace_writer_bytes(storm_writer) < 8 * bound || storms < 20; i++) {
    errno = (int)(i % 100);
    write_at(storm_writer, 1, i, i);
    assert_int_equal(errno, i % 100);
    if (i % 64 == 0) assert_true(disk_bytes() <= bound);
  }
  setitimer(ITIMER_REAL, &off, NULL);
  sigaction(SIGALRM, &before, NULL);
  trace_writer_close(storm_writer);
  read_all(NULL);
  unlink(path);
}

int main(void) {
  strcpy(path, fixture_path());
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_chunks_that_were_left_are_sealed),
      cmocka_unit_test(a_stream_that_lags_is_sealed),
      one_thread_test(a_stream_with_an_exec_is_not_sealed),
      cmocka_unit_test(a_full_reserve_leaves_room_for_the_seal),
      cmocka_unit_test(an_end_that_is_added_is_not_behind_a_seal),
      cmocka_unit_test(a_bound_holds_under_many_threads),
      one_thread_test(a_bound_counts_the_pages_of_small_chunks),
      cmocka_unit_test(what_is_dropped_is_told_exactly),
      one_thread_test(what_is_dropped_is_told_if_that_is_dropped_too),
      one_thread_test(holes_of_others_are_not_told),
      one_thread_test(an_open_chunk_is_not_dropped),
      cmocka_unit_test(a_killed_program_leaves_a_whole_trace_within_its_bound),
      cmocka_unit_test(a_signal_handler_may_write_while_a_chunk_is_dropped),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
