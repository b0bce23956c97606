/* The writer for hosts that are not ours: all it is told comes out of the trace, from any thread,
 * and nothing of it harms. */
#include "support/test.h"

#include "analysis/load/recording.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <winnow/writer.h>

enum { THREADS = 4, BLOCKS = 2000 };

static const char *path(void) {
  static char name[64];
  snprintf(name, sizeof name, "outside_%d.trace", (int)getpid());
  return name;
}

static wn_writer *begin(const char *heap) {
  wn_writer_options options = {{1, 100, 7}, heap, "lang", "job 7"};
  wn_writer *writer;
  assert_int_equal(wn_writer_open(path(), &options, &writer), WN_OK);
  return writer;
}

static struct recording *end(wn_writer *writer) {
  struct recording *recording;
  wn_writer_close(writer);
  assert_int_equal(
      recording_load(path(), &(struct recording_options){.names = {.symbols = true}}, &recording), WN_OK);
  unlink(path());
  return recording;
}

struct places {
  wn_place place[2];
};
static struct places places_of(wn_writer *writer, uint32_t line) {
  return (struct places){{wn_writer_place(writer, &(wn_place_text){"leaf", "a.lang", line, 3, 9}),
                          wn_writer_place(writer, &(wn_place_text){"root", "a.lang", 1, 0, 0})}};
}

static void a_blocks_life_is_what_was_told(void **state) {
  (void)state;
  wn_writer *writer = begin("ocaml");
  wn_allocation young = {.n_samples = 2, .size = 4};
  wn_allocation old = {
      .n_samples = 1, .size = 1000, .bytes = 7999, .trials = 1001, .source = WN_SOURCE_MARSHAL};
  uint64_t first = wn_writer_alloc(writer, &young, places_of(writer, 5).place, 2, WN_WRITER_MINOR),
           second = wn_writer_alloc(writer, &old, NULL, 0, WN_WRITER_MAJOR);
  assert_int_not_equal(first, 0);
  assert_int_not_equal(second, first);
  wn_writer_promote(writer, first);
  wn_writer_free(writer, second);
  wn_writer_heap heap = {
      .minor_words = 5, .direct_words = 1001, .minor_collections = 1, .heap_words = 4096, .domains = 1};
  wn_writer_collection(writer, WN_WRITER_COLLECTED_NOTHING, 0, &(wn_writer_heap){.minor_words = 5});
  wn_writer_collection(writer, WN_WRITER_COLLECTED_MAJOR, 1000, &heap);
  struct recording *recording = end(writer);
  const struct samples *samples = recording->samples;
  assert_true(samples->collected);
  assert_null(samples->types); /* such a runtime does not say what its blocks are */
  assert_int_equal(samples->row_count, 2);
  const struct row *row = samples->rows[0].block == first ? &samples->rows[0] : &samples->rows[1],
                   *other = row == samples->rows ? row + 1 : row - 1;
  assert_int_equal(row->size, 32);
  assert_int_equal(row->words, 5);
  assert_int_equal(row->area, AREA_MINOR);
  assert_true(row->promoted_ns != NEVER && row->died_ns == STILL_ALIVE);
  assert_int_equal(other->size, 7999);
  assert_int_equal(other->area, AREA_MAJOR);
  assert_int_equal(other->source, TRACE_SOURCE_MARSHAL);
  assert_true(other->died_ns != STILL_ALIVE);
  struct frames frames = names_of(&recording->names, row->stack);
  assert_string_equal(strings_text(recording->names.strings, frames.frame->function), "leaf");
  assert_string_equal(strings_text(recording->names.strings, frames.frame->module), "[lang]");
  assert_int_equal(frames.frame->line, 5);
  assert_int_equal(frames.frame->first_column, 3);
  assert_int_equal(frames.frame->last_column, 9);
  assert_int_equal(samples->life.collection_count, 2);
  assert_int_equal(samples->life.collections[0].kind, TRACE_COLLECTION_NONE);
  assert_int_equal(samples->life.collections[1].heap_words, 4096);
  assert_int_equal(samples->life.cycle_count, 1);
  assert_int_equal(heap_life_total(&samples->life).direct_words, 1001);
  assert_true(samples->ended && samples->end.kind == TRACE_END_STOP);
  assert_string_equal(source_run(samples->source)->context.bytes, "job 7");
  recording_free(recording);
}

static void a_heap_of_malloc_has_no_areas(void **state) {
  (void)state;
  wn_writer *writer = begin("malloc");
  uint64_t block = wn_writer_alloc(writer, &(wn_allocation){.size = 8}, NULL, 0, WN_WRITER_MAJOR);
  wn_writer_resize(writer, block, &(wn_allocation){.size = 16}, NULL, 0);
  wn_writer_exits(writer, 3);
  wn_writer_exits(writer, 4); /* once is enough */
  struct recording *recording = end(writer);
  assert_false(recording->samples->collected);
  assert_int_equal(recording->samples->row_count, 2);
  assert_int_equal(recording->samples->rows[1].size, 128);
  assert_int_equal(recording->samples->end.kind, TRACE_END_EXIT);
  assert_int_equal(recording->samples->end.code, 3);
  recording_free(recording);
}

static void *tell(void *argument) {
  wn_writer *writer = argument;
  for (uint32_t i = 0; i < BLOCKS; i++) {
    wn_allocation allocation = {.n_samples = 1, .size = 1 + i % 10};
    struct places places = places_of(writer, i % 100 + 1);
    uint64_t block = wn_writer_alloc(writer, &allocation, places.place, 2, WN_WRITER_MINOR);
    if (i % 2) wn_writer_promote(writer, block);
    if (i % 3) wn_writer_free(writer, block);
  }
  return NULL;
}

static void threads_tell_at_once_and_nothing_is_lost(void **state) {
  (void)state;
  wn_writer *writer = begin("lang");
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, tell, writer), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  struct recording *recording = end(writer);
  const struct samples *samples = recording->samples;
  unsigned alive = 0, promoted = 0, of_thread[64] = {0};
  assert_int_equal(samples->row_count, THREADS * BLOCKS);
  for (size_t i = 0; i < samples->row_count; i++) {
    alive += samples->rows[i].died_ns == STILL_ALIVE;
    promoted += samples->rows[i].promoted_ns != NEVER;
    of_thread[samples->rows[i].thread % 64]++;
  }
  assert_int_equal(alive, THREADS * ((BLOCKS + 2) / 3));
  assert_int_equal(promoted, THREADS * BLOCKS / 2);
  for (int i = 0; i < 64; i++) assert_true(!of_thread[i] || of_thread[i] == BLOCKS);
  assert_int_equal(samples->unmatched, 0);
  recording_free(recording);
}

static void a_forked_child_writes_nothing_and_the_parent_goes_on(void **state) {
  (void)state;
  wn_writer *writer = begin("lang");
  wn_writer_alloc(writer, &(wn_allocation){.size = 1}, NULL, 0, WN_WRITER_MINOR);
  pid_t child = fork();
  if (!child) _exit(wn_writer_alloc(writer, &(wn_allocation){.size = 1}, NULL, 0, WN_WRITER_MINOR) != 0);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  wn_writer_alloc(writer, &(wn_allocation){.size = 1}, NULL, 0, WN_WRITER_MINOR);
  struct recording *recording = end(writer);
  assert_int_equal(recording->samples->row_count, 2);
  recording_free(recording);
}

static void equal_places_are_one(void **state) {
  (void)state;
  wn_writer *writer = begin("lang");
  wn_place_text text = {"f", "file", 3, 1, 5}, other = {"f", "file", 3, 1, 6};
  assert_int_equal(wn_writer_place(writer, &text), wn_writer_place(writer, &text));
  assert_int_not_equal(wn_writer_place(writer, &text), wn_writer_place(writer, &other));
  assert_int_not_equal(wn_writer_place(writer, &(wn_place_text){0}), 0);
  recording_free(end(writer));
}

/* Places that are none are left out, and the innermost callstack_size of the others are kept. */
static void stacks_have_the_innermost_places(void **state) {
  (void)state;
  enum { DEEP = 300, KEPT = 100 };
  wn_writer *writer = begin("malloc");
  wn_place place[DEEP], none[] = {0, 12345};
  for (uint32_t i = 0; i < DEEP; i++)
    place[i] = wn_writer_place(writer, &(wn_place_text){"f", "file", i + 1, 0, 0});
  const wn_allocation one = {.size = 1};
  wn_writer_alloc(writer, &one, place, DEEP, WN_WRITER_MAJOR);
  wn_writer_alloc(writer, &one, none, 2, WN_WRITER_MAJOR);
  wn_writer_alloc(writer, &one, NULL, 0, WN_WRITER_MAJOR);
  struct recording *recording = end(writer);
  const struct samples *samples = recording->samples;
  assert_int_equal(samples->row_count, 3);
  uint32_t node = samples->rows[0].stack, depth = 0;
  for (; node; node = source_stack(samples->source, node).parent, depth++) {
    struct trace_node frame = source_stack(samples->source, node);
    struct trace_place found;
    if (!frame.module) break; /* the mark of a stack that was cut */
    assert_true(source_place(samples->source, frame.module, frame.offset, &found));
    assert_int_equal(found.line, depth + 1);
  }
  assert_int_equal(depth, KEPT);
  assert_int_equal(samples->rows[1].stack, 0);
  assert_int_equal(samples->rows[2].stack, 0);
  recording_free(recording);
}

static void wrong_uses_are_refused_in_words(void **state) {
  (void)state;
  wn_writer *writer;
  wn_writer_options options = WN_WRITER_DEFAULTS;
  assert_int_equal(wn_writer_open(NULL, &options, &writer), WN_EINVAL);
  assert_int_equal(wn_writer_open(path(), NULL, &writer), WN_EINVAL);
  options.sampling.sampling_rate = 1.5;
  assert_int_equal(wn_writer_open(path(), &options, &writer), WN_EINVAL);
  assert_non_null(strstr(wn_last_error(), "rate"));
  options.sampling.sampling_rate = 0.5;
  assert_int_equal(wn_writer_open("/nowhere/at/all", &options, &writer), WN_EIO);
  wn_writer_close(NULL);
  writer = begin("lang");
  wn_writer_free(writer, 0);
  wn_writer_promote(writer, 0);
  wn_writer_resize(writer, 0, &(wn_allocation){.size = 1}, NULL, 0);
  errno = 77;
  wn_writer_alloc(writer, &(wn_allocation){.size = 1}, NULL, 0, WN_WRITER_MINOR);
  assert_int_equal(errno, 77);
  recording_free(end(writer));
}

static void the_environment_asks_for_a_trace(void **state) {
  (void)state;
  wn_writer *writer;
  wn_writer_options options = WN_WRITER_DEFAULTS;
  unsetenv("WINNOW_TRACE");
  options.sampling.sampling_rate = 0.125;
  options.sampling.callstack_size = 20;
  assert_int_equal(wn_writer_open_if_requested(&options, &writer), WN_OK);
  assert_null(writer);
  setenv("WINNOW_TRACE", path(), 1);
  setenv("WINNOW_RATE", "0.25", 1);
  setenv("WINNOW_SEED", "99", 1);
  assert_int_equal(wn_writer_open_if_requested(&options, &writer), WN_OK);
  assert_non_null(writer);
  assert_true(options.sampling.sampling_rate == 0.25 && options.sampling.seed == 99);
  assert_int_equal(options.sampling.callstack_size, 20); /* no variable sets it */
  struct recording *recording = end(writer);
  assert_true(recording->rate == 0.25);
  recording_free(recording);
  setenv("WINNOW_RATE", "often", 1);
  assert_int_equal(wn_writer_open_if_requested(&options, &writer), WN_EINVAL);
  assert_non_null(strstr(wn_last_error(), "WINNOW_RATE=often"));
  assert_null(writer);
  assert_int_not_equal(access(path(), F_OK), 0);
  unsetenv("WINNOW_TRACE");
  unsetenv("WINNOW_RATE");
  unsetenv("WINNOW_SEED");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_blocks_life_is_what_was_told),
      cmocka_unit_test(a_heap_of_malloc_has_no_areas),
      cmocka_unit_test(threads_tell_at_once_and_nothing_is_lost),
      cmocka_unit_test(a_forked_child_writes_nothing_and_the_parent_goes_on),
      cmocka_unit_test(equal_places_are_one),
      cmocka_unit_test(stacks_have_the_innermost_places),
      cmocka_unit_test(wrong_uses_are_refused_in_words),
      cmocka_unit_test(the_environment_asks_for_a_trace),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
