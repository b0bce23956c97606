/* What a compaction takes of memory is bounded by the bound of the trace, whatever the trace has:
 * it runs in the control group of the program, which would be killed with it. A child process
 * compacts a trace that is written meanwhile; its largest resident size is compared with that of a
 * child that does nothing. */
#include "support/test.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/words.h"
#include "compact/compact.h"
#include "compact/excerpt.h"
#include "compact/made_trace.h"
#include "trace/chunk.h"
#include "trace/history.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define BOUND       ((uint64_t)4 << 20)
#define TRACE       (BOUND / 4 * 3)
#define LEAST       ((uint64_t)6 << 20) /* what any compaction takes: buffers, stacks, tables of bits */
#define MICROSECOND UINT64_C(1000)
/* TAKES in src/compact/compact.h. */
#define PRIVATE_MOST (BOUND / 8 * 3 + LEAST)
#define COPY_MOST    (BOUND / 8 + 4 * CHUNK_BYTES)

static char path[64], history[80];
static struct trace_writer *writer;

/* ---- traces ---- */

static void write_birth(uint64_t i, uint64_t size, uint32_t thread, uint32_t frame) {
  struct trace_sample sample = {.time_ns = i * MICROSECOND,
                                .thread = thread,
                                .block = i,
                                .size = size,
                                .words = malloc_words(size),
                                .n_samples = 1,
                                .rate = 1e-3};
  uint32_t frames[3] = {1, 2 + frame % 100, 200 + frame};
  assert_true(trace_write_sample(writer, &sample, (struct trace_stack){frames, 3}));
}

static void write_death(uint64_t i, uint64_t block) {
  struct trace_free death = {.time_ns = i * MICROSECOND, .thread = 1, .block = block};
  assert_true(trace_write_free(writer, &death));
}

/* The records of a kind of program at its step i, from 1 on. */
typedef void step_function(uint64_t i);

static void blocks_live(uint64_t i) { write_birth(i, 16, 1, 0); }

static void blocks_die(uint64_t i) {
  write_birth(i, 16 + i % 500, 1, (uint32_t)i % 50);
  if (i > 1000) write_death(i, i - 1000);
}

static void resize(uint64_t i, uint64_t block, uint64_t words, double rate) {
  struct trace_resize event = {.time_ns = i * MICROSECOND,
                               .thread = 1,
                               .block = block,
                               .words = words,
                               .size = 8 * words,
                               .rate = rate};
  uint32_t frame = 7;
  assert_true(trace_write_resize(writer, &event, (struct trace_stack){&frame, 1}));
}

static void one_block_grows(uint64_t i) {
  if (i == 1) write_birth(1, 16, 1, 0);
  resize(i, 1, 3 + i, 1e-3);
}

static void many_blocks_grow(uint64_t i) {
  uint64_t block = i / 4 * 4 + 1;
  if (i == block)
    write_birth(i, 16, 1, 0);
  else if (i > 4)
    resize(i, block, 3 + i % 4 * 100, i % 3 ? 1e-3 : 1e-4);
}

static void threads_come_and_go(uint64_t i) {
  struct trace_thread_name name = {
      .time_ns = i * MICROSECOND, .thread = (uint32_t)i, .name = trace_text_of("a thread with a name")};
  write_birth(i, 100000, (uint32_t)i, 0);
  if (i < 1 << 16) assert_true(trace_write_thread_name(writer, &name));
}

static void each_stack_is_another(uint64_t i) { write_birth(i, 100000, 1, (uint32_t)i); }

static void mappings_change(uint64_t i) {
  struct trace_map_touched touched = {
      .time_ns = i * MICROSECOND, .thread = 1, .mapping = i % 3000, .bytes = i * 4096};
  struct trace_memory memory = {.time_ns = i * MICROSECOND, .thread = 1, .rss_bytes = i};
  assert_true(trace_write_map_touched(writer, &touched));
  if (i % 100 == 0) assert_true(trace_write_memory(writer, &memory));
}

static void record(step_function *step) {
  unlink(history);
  writer = made_open(path, 1e-3, 0);
  for (uint64_t i = 1; trace_writer_bytes(writer) < TRACE; i++) step(i);
}

/* ---- memory ---- */

/* The largest resident size of a child, in bytes; it compacts, or does nothing. */
static uint64_t peak_of_child(bool compacts) {
  struct rusage usage;
  struct compact_result result;
  int status;
  pid_t child = fork();
  assert_true(child >= 0);
  if (!child && compacts && compact_trace(path, BOUND, &result)) fprintf(stderr, "%s\n", wn_last_error());
  if (!child) _exit(compacts && !result.chunks);
  assert_int_equal(wait4(child, &status, 0, &usage), child);
  assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
  return (uint64_t)usage.ru_maxrss * 1024;
}

static uint64_t disk_bytes(const char *name) {
  struct stat found;
  return stat(name, &found) ? 0 : (uint64_t)found.st_blocks * 512;
}

/* Of a trace that is written. */
static void compact_within(step_function *step) {
  record(step);
  uint64_t before = peak_of_child(false), peak = peak_of_child(true);
  printf("  %.1f MB of memory, bound %.1f MB\n", (double)(peak - before) / 1e6, (double)BOUND / 1e6);
  assert_true(disk_bytes(history) <= BOUND / 8 * 3);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* which take memory themselves */
  assert_true(peak - before <= PRIVATE_MOST);
#endif
  trace_writer_close(writer);
  assert_int_equal(unlink(path) | unlink(history), 0);
}

#define WITHIN(step) \
  static void memory_is_bounded_where_##step(void **state) { (void)state, compact_within(step); }
WITHIN(blocks_live)
WITHIN(blocks_die)
WITHIN(one_block_grows)
WITHIN(many_blocks_grow)
WITHIN(threads_come_and_go)
WITHIN(each_stack_is_another)
WITHIN(mappings_change)

/* ---- the copy ---- */

static uint64_t bytes_of(int descriptor) {
  struct stat found;
  return fstat(descriptor, &found) ? 0 : (uint64_t)found.st_blocks * 512;
}

/* A part of the recorded trace, of which nothing was taken over before. */
static struct excerpt_of part_of_trace(void) {
  static const struct replaced none;
  return (struct excerpt_of){.descriptor = open(path, O_RDWR | O_CLOEXEC),
                             .capacity = CHUNK_BYTES,
                             .most_bytes = BOUND / 8,
                             .until = UINT32_MAX,
                             .before = &none};
}

/* The copy lies in memory too. Nothing is copied of a trace that cannot change. */
static void little_is_copied(void **state) {
  (void)state;
  struct excerpt excerpt;
  record(blocks_die);
  struct excerpt_of of = part_of_trace();
  assert_true(of.descriptor >= 0);
  assert_true(excerpt_make(&excerpt, &of));
  assert_true(!excerpt.all && excerpt.chunk_count > 1);
  assert_in_range(bytes_of(excerpt.descriptor), BOUND / 16, COPY_MOST);
  excerpt_destroy(&excerpt);
  of.closed = true;
  assert_true(excerpt_make(&excerpt, &of));
  assert_true(excerpt.descriptor < 0 && excerpt.chunk_count > 1);
  excerpt_destroy(&excerpt);
  close(of.descriptor);
  trace_writer_close(writer);
}

/* As a writer would leave it that knows no seals. */
static void remove_seals(int descriptor) {
  static _Alignas(8) unsigned char chunk[CHUNK_BYTES];
  struct chunk_header *header = (struct chunk_header *)chunk;
  uint64_t until;
  uint32_t used;
  size_t count = sizeof chunk;
  for (uint64_t at = 0; chunk_read(descriptor, chunk, at, &count, &used) != CHUNK_UNUSED && count;
       at += count) {
    count = sizeof chunk;
    if (!chunk_is_sealed(chunk, used, &until)) continue;
    used -= SEAL_BYTES;
    uint32_t crc = crc32c(chunk_header_crc(header), chunk + CHUNK_HEADER_BYTES, used);
    uint64_t commit = commit_word(used, crc);
    assert_int_equal(
        pwrite(descriptor, &commit, sizeof commit, (off_t)(at + offsetof(struct chunk_header, commit))),
        sizeof commit);
  }
}

/* Its chunks cannot be taken over, so nothing of it is copied or changed. */
static void nothing_is_copied_of_a_trace_without_seals(void **state) {
  (void)state;
  struct excerpt excerpt;
  struct compact_result result;
  record(blocks_die);
  struct excerpt_of of = part_of_trace();
  remove_seals(of.descriptor);
  assert_true(excerpt_make(&excerpt, &of));
  assert_true(excerpt.all && !excerpt.chunk_count);
  assert_true(bytes_of(excerpt.descriptor) <= 2 * CHUNK_BYTES);
  excerpt_destroy(&excerpt);
  close(of.descriptor);
  assert_int_equal(compact_trace(path, BOUND, &result), WN_OK);
  assert_true(!result.chunks && access(history, F_OK));
  trace_writer_close(writer);
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(memory_is_bounded_where_blocks_live),
                                     cmocka_unit_test(memory_is_bounded_where_blocks_die),
                                     cmocka_unit_test(memory_is_bounded_where_one_block_grows),
                                     cmocka_unit_test(memory_is_bounded_where_many_blocks_grow),
                                     cmocka_unit_test(memory_is_bounded_where_threads_come_and_go),
                                     cmocka_unit_test(memory_is_bounded_where_each_stack_is_another),
                                     cmocka_unit_test(memory_is_bounded_where_mappings_change),
                                     cmocka_unit_test(little_is_copied),
                                     cmocka_unit_test(nothing_is_copied_of_a_trace_without_seals)};
  snprintf(path, sizeof path, "test_compact_memory.%d.trace", (int)getpid());
  snprintf(history, sizeof history, "%s" HISTORY_ENDING, path);
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
