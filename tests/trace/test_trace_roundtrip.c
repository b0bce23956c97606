/* What is written is read: all kinds, many chunks, many threads, and in few bytes. */
#include "support/test.h"

#include "base/check.h"
#include "base/words.h"
#include "trace/chunk.h"
#include "trace/fixture.h"
#include "trace/stack_encoder.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { THREADS = 6, EVENTS = TINY ? 3000 : 20000 };

struct shadow {
  struct trace_writer *writer;
  uint32_t thread;
  uint32_t nodes;
  int count;
  struct trace_event *events;
  unsigned char *seen;
};

/* The time of an event is its number in the thread's list, with some disorder that undoes itself in
 * the reader. */
static void *write_shadow(void *argument) {
  struct shadow *shadow = argument;
  struct random random;
  random_seed(&random, 11, shadow->thread, 0);
  uint64_t block = (uint64_t)shadow->thread << 40;
  for (int i = 0; i < shadow->count; i++) {
    shadow->events[i] = fixture_event(&random, shadow->thread, (uint64_t)i * 1000, &block, shadow->nodes);
    if (!fixture_write(shadow->writer, &shadow->events[i])) return (void *)1;
  }
  return NULL;
}

static void check_shadows(const char *path, struct shadow *shadows, int threads) {
  struct trace_reader *reader;
  assert_int_equal(trace_reader_open(path, &reader), WN_OK);
  struct trace_event event;
  long count = 0, wanted = 0;
  while (trace_reader_next(reader, &event)) {
    assert_in_range(event.at.thread, 1, threads);
    struct shadow *shadow = &shadows[event.at.thread - 1];
    uint64_t i = event.at.time_ns / 1000;
    assert_in_range(i, 0, shadow->count - 1);
    assert_false(shadow->seen[i]);
    shadow->seen[i] = 1;
    assert_true(fixture_same(reader, &event, &shadow->events[i]));
    count++;
  }
  for (int i = 0; i < threads; i++) wanted += shadows[i].count;
  assert_int_equal(count, wanted);
  assert_int_equal(trace_reader_damage(reader)->chunks_damaged, 0);
  assert_true(trace_reader_position(reader) == 1.0);
  trace_reader_close(reader);
}

static void write_and_check(int threads, int count, uint32_t nodes) {
  const char *path = fixture_path();
  struct trace_writer *writer = fixture_open(path, 0);
  struct shadow shadows[THREADS];
  pthread_t ids[THREADS];
  for (int i = 0; i < threads; i++) {
    shadows[i] = (struct shadow){.writer = writer, .thread = (uint32_t)i + 1, .nodes = nodes, .count = count};
    shadows[i].events = calloc((size_t)count, sizeof *shadows[i].events);
    shadows[i].seen = calloc((size_t)count, 1);
    assert_int_equal(pthread_create(&ids[i], NULL, write_shadow, &shadows[i]), 0);
  }
  for (int i = 0; i < threads; i++) {
    void *failed;
    pthread_join(ids[i], &failed);
    assert_null(failed);
  }
  assert_int_equal(trace_writer_lost(writer), 0);
  trace_writer_close(writer);
  check_shadows(path, shadows, threads);
  for (int i = 0; i < threads; i++) {
    free(shadows[i].events);
    free(shadows[i].seen);
  }
  unlink(path);
}

static void one_thread_reads_what_it_wrote(void **state) {
  (void)state;
  write_and_check(1, EVENTS, 1000);
}

static void stacks_that_fill_a_chunk_go_on_in_the_next(void **state) {
  (void)state;
  write_and_check(1, EVENTS, 3000000000u);
}

static void several_threads_read_what_they_wrote(void **state) {
  (void)state;
  write_and_check(THREADS, EVENTS / 2, 5000);
}

enum { READ_STACKS = 300, READS = 30 };
static _Atomic(bool) stop_writing;

static void *write_until_stopped(void *argument) {
  struct trace_sample sample = {.thread = 1, .size = 8, .words = malloc_words(8), .n_samples = 1};
  while (!stop_writing && sample.block < 200000) {
    sample.stack = (uint32_t)(++sample.block % READ_STACKS);
    if (!tree_write_sample(argument, &sample)) return (void *)1;
  }
  return NULL;
}

static void a_trace_may_be_read_while_it_is_written(void **state) {
  (void)state;
  struct trace_writer *writer = fixture_open(fixture_path(), 0);
  pthread_t thread;
  stop_writing = false;
  assert_int_equal(pthread_create(&thread, NULL, write_until_stopped, writer), 0);
  uint64_t last = 0;
  for (int i = 0; i < READS || !last; i++) {
    uint32_t known[READ_STACKS] = {0};
    struct trace_reader *reader;
    struct trace_event event;
    assert_int_equal(trace_reader_open(fixture_path(), &reader), WN_OK);
    last = 0;
    while (trace_reader_next(reader, &event)) {
      uint32_t written = (uint32_t)(event.sample.block % READ_STACKS);
      if (event.sample.block <= last) fail_msg("%llu again", (unsigned long long)event.sample.block);
      if (!fixture_same_known_stack(reader, known, event.sample.stack, written))
        fail_msg("stack %u", written);
      last = event.sample.block;
    }
    assert_int_equal(trace_reader_damage(reader)->chunks_damaged, 0);
    trace_reader_close(reader);
  }
  stop_writing = true;
  void *failed;
  pthread_join(thread, &failed);
  assert_null(failed);
  trace_writer_close(writer);
  unlink(fixture_path());
}

static void the_run_is_read_as_it_was_written(void **state) {
  (void)state;
  struct trace_run written = fixture_run();
  trace_writer_close(fixture_open(fixture_path(), 0));
  struct trace_reader *reader;
  assert_int_equal(trace_reader_open(fixture_path(), &reader), WN_OK);
  const struct trace_run *run = trace_reader_run(reader);
  assert_int_equal(run->command.length, written.command.length);
  assert_memory_equal(run->command.bytes, written.command.bytes, written.command.length + 0u);
  assert_string_equal(run->host.bytes, written.host.bytes);
  assert_string_equal(run->heap.bytes, written.heap.bytes);
  assert_string_equal(run->version.bytes, written.version.bytes);
  assert_true(run->pid == written.pid && run->parent_pid == written.parent_pid && run->seed == written.seed);
  assert_true(run->rate == written.rate && run->stack_depth == written.stack_depth);
  assert_true(run->word_bytes == 8 && run->wall_ns == written.wall_ns &&
              run->monotonic_ns == written.monotonic_ns);
  struct trace_event event;
  assert_false(trace_reader_next(reader, &event));
  assert_false(trace_reader_damage(reader)->complete);
  trace_reader_close(reader);
  unlink(fixture_path());
}

static void equal_stacks_in_different_chunks_have_one_number(void **state) {
  (void)state;
  struct trace_writer *writer = fixture_open(fixture_path(), 0);
  for (uint64_t i = 0; i < 40000; i++) {
    struct trace_sample sample = {
        .time_ns = i, .stack = 77, .block = i, .size = i, .words = malloc_words(i), .n_samples = 1};
    assert_true(tree_write_sample(writer, &sample));
  }
  trace_writer_close(writer);
  struct trace_reader *reader;
  assert_int_equal(trace_reader_open(fixture_path(), &reader), WN_OK);
  struct trace_event event;
  uint32_t first = 0;
  while (trace_reader_next(reader, &event)) {
    if (!first) first = event.sample.stack;
    assert_int_equal(event.sample.stack, first);
  }
  assert_true(trace_reader_damage(reader)->chunks_read > 1);
  assert_int_equal(trace_reader_nodes(reader), 4); /* 77, 25, 8, 2 */
  trace_reader_close(reader);
  unlink(fixture_path());
}

/* Stacks of one frame each, of a language. */
static void one_node(void *context, uint32_t node, uint32_t *parent, uint32_t *module, uint64_t *offset) {
  (void)context;
  *parent = 0;
  *module = 1;
  *offset = node;
}
static void one_module(void *context, uint32_t module, struct trace_module *out) {
  (void)context, (void)module;
  *out = (struct trace_module){.base = TRACE_LANGUAGE_BASE, .bias = TRACE_LANGUAGE_BASE, .size = 1 << 24};
  out->path = trace_text_of("[lang]");
}
static bool one_place(void *context, uint32_t module, uint64_t offset, struct trace_place *out) {
  (void)module;
  *out = (struct trace_place){.function = {context, offset % 2 ? (uint32_t)strlen(context) : 0},
                              .file = {context, (uint32_t)strlen(context)},
                              .line = (uint32_t)offset};
  return true;
}

static void write_places(char *name, uint32_t count) {
  const struct tree_source source = {one_node, one_module, one_place, name};
  struct trace_options options = {.path = fixture_path()};
  struct trace_run run = fixture_run();
  struct trace_writer *writer;
  assert_int_equal(tree_writer_open(&options, &run, &source, &writer), WN_OK);
  for (uint32_t i = 1; i <= count; i++)
    assert_true(tree_write_sample(
        writer, &(struct trace_sample){.stack = i, .block = i, .size = 8, .words = 2, .n_samples = 1}));
  trace_writer_close(writer);
}

static void check_places(const char *name, size_t length, uint32_t count) {
  struct trace_reader *reader;
  struct trace_event event;
  uint32_t seen = 0;
  assert_int_equal(trace_reader_open(fixture_path(), &reader), WN_OK);
  while (trace_reader_next(reader, &event)) {
    struct trace_node node = trace_reader_node(reader, event.sample.stack);
    const struct trace_place *place = trace_reader_place(reader, node.module, node.offset);
    assert_int_equal(node.offset, ++seen);
    assert_non_null(place);
    assert_int_equal(place->line, seen);
    assert_int_equal(place->function.length, seen % 2 ? length : 0);
    assert_int_equal(place->file.length, length);
    assert_memory_equal(place->file.bytes, name, length);
    assert_int_equal(place->file.bytes[length], 0);
  }
  assert_int_equal(seen, count);
  assert_int_equal(trace_reader_damage(reader)->stacks_lost, 0);
  assert_int_equal(trace_reader_modules(reader), 1);
  trace_reader_close(reader);
  unlink(fixture_path());
}

static void more_names_than_a_chunk_can_have_go_on_in_the_next(void **state) {
  (void)state;
  write_places((char[]){""}, 4 * PLACE_SLOTS);
  check_places("", 0, 4 * PLACE_SLOTS);
}

static void long_names_are_cut(void **state) {
  static char name[1 << 17];
  (void)state;
  memset(name, 'n', sizeof name - 1);
  write_places(name, 300);
  check_places(name, TRACE_PLACE_MOST, 300);
}

/* 300 leaves at depth 20 under a trunk that branches as programs do: a shared main loop, then three
 * ways at four levels, then a path of one's own. Node numbers carry the path: leaf * 32 + level
 * above the shared part. */
static void program_node(void *context, uint32_t node, uint32_t *parent, uint32_t *module, uint64_t *offset) {
  static const uint32_t shared[20] = {1,  1,  1,  1,  1,  3,  3,   9,   9,   9,
                                      27, 27, 27, 81, 81, 81, 150, 150, 150, 300};
  (void)context;
  uint32_t level = (node - 1) % 32, path = (node - 1) / 32;
  *parent = level ? path * shared[level - 1] / shared[level] * 32 + level : 0;
  *module = 1 + (node * 2654435761u >> 28) % 6;
  *offset = (node * 2654435761u) % 2000000;
}

static void budget_of_32_bytes_a_sampled_block_is_kept(void **state) {
  (void)state;
  enum { SAMPLES = 10000, STACKS = 300 };
  const struct tree_source source = {.node = program_node, .module = fixture_source.module};
  struct trace_options options = {.path = fixture_path()};
  struct trace_run run = fixture_run();
  struct trace_writer *writer;
  assert_int_equal(tree_writer_open(&options, &run, &source, &writer), WN_OK);
  struct random random;
  random_seed(&random, 5, 0, 0);
  uint64_t time = 1000000;
  for (uint64_t i = 0; i < SAMPLES; i++) {
    time += random_bits(&random) % 2000000;
    uint64_t size = 16 + random_bits(&random) % 2000;
    struct trace_sample sample = {.time_ns = time, .thread = 1, .block = i + 1, .size = size};
    sample.stack = (uint32_t)(random_bits(&random) % STACKS) * 32 + 20;
    sample.words = malloc_words(size);
    sample.n_samples = 1;
    assert_true(tree_write_sample(writer, &sample));
    if (i < 500) continue;
    time += random_bits(&random) % 2000000;
    struct trace_free event = {.time_ns = time, .thread = 1, .block = i + 1 - random_bits(&random) % 500};
    assert_true(trace_write_free(writer, &event));
  }
  trace_writer_close(writer);
  struct trace_totals totals;
  assert_int_equal(trace_finish(fixture_path(), &totals), WN_OK);
  assert_int_equal(totals.samples, SAMPLES);
  print_message("%.2f bytes a sampled block\n", (double)totals.file_bytes / SAMPLES);
  if (!TINY) assert_in_range(totals.file_bytes, 1, 32 * SAMPLES);
  unlink(fixture_path());
}

static void finish_cuts_the_unused_tail_and_counts(void **state) {
  (void)state;
  struct trace_writer *writer = fixture_open(fixture_path(), 0);
  struct trace_sample sample = {
      .time_ns = 1, .thread = 1, .block = 1, .size = 8, .words = 2, .n_samples = 1, .stack = 9};
  struct trace_end end = {.time_ns = 2, .thread = 1, .kind = TRACE_END_EXIT, .code = 3};
  struct trace_totals totals;
  assert_true(tree_write_sample(writer, &sample) && trace_write_end(writer, &end));
  assert_int_equal(trace_finish(fixture_path(), &totals), WN_EBUSY);
  trace_writer_close(writer);
  assert_int_equal(trace_finish(fixture_path(), &totals), WN_OK);
  struct stat found;
  assert_int_equal(stat(fixture_path(), &found), 0);
  assert_int_equal(found.st_size, totals.file_bytes);
  assert_in_range(totals.file_bytes, CHUNK_HEADER_BYTES, 2000);
  assert_int_equal(totals.samples, 1);
  assert_true(totals.damage.complete);
  assert_int_equal(trace_finish(fixture_path(), &totals), WN_OK);
  assert_int_equal(found.st_size, totals.file_bytes);
  unlink(fixture_path());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_run_is_read_as_it_was_written),
      cmocka_unit_test(one_thread_reads_what_it_wrote),
      cmocka_unit_test(stacks_that_fill_a_chunk_go_on_in_the_next),
      cmocka_unit_test(several_threads_read_what_they_wrote),
      cmocka_unit_test(a_trace_may_be_read_while_it_is_written),
      cmocka_unit_test(equal_stacks_in_different_chunks_have_one_number),
      cmocka_unit_test(more_names_than_a_chunk_can_have_go_on_in_the_next),
      cmocka_unit_test(long_names_are_cut),
      cmocka_unit_test(budget_of_32_bytes_a_sampled_block_is_kept),
      cmocka_unit_test(finish_cuts_the_unused_tail_and_counts),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
