/* Memtrace files as sources: blocks, threads, nodes and places. WINNOW_SAMPLE_DATA in the environment
 * names a folder with files that Memtrace wrote, of which the numbers of events are known. */
#include "sources/memtrace_case.h"

#include "analysis/load/samples.h"
#include "sources/files/open.h"
#include "sources/traces/memtrace_trace.h"

static struct source *open_made(const struct made *made) {
  struct source *source;
  assert_int_equal(source_open(case_file(made->writer.file.bytes, made->writer.file.count), &source), WN_OK);
  return source;
}

static struct trace_event next(struct source *source, enum trace_kind kind) {
  struct trace_event event;
  assert_true(source_next(source, &event));
  assert_int_equal(event.kind, kind);
  return event;
}

static void blocks_have_their_words_and_areas(void **state) {
  (void)state;
  struct made made;
  uint64_t code = 3;
  made_begin(&made, 3, 1, 1);
  made.now_us += 5;
  made_allocate(&made, 0, 10, 2, WRITER_MINOR, &code, 1);
  made_allocate(&made, 0, 300, 1, WRITER_MAJOR, &code, 1);
  made_allocate(&made, 0, 20, 1, WRITER_EXTERNAL, &code, 1);
  made_change(&made, 0, MEMTRACE_PROMOTION, 0);
  made_change(&made, 0, MEMTRACE_COLLECTION, 1);
  made_write(&made);
  struct source *source = open_made(&made);
  assert_int_equal(source_heap(source), SOURCE_HEAP_COLLECTED);
  assert_true(source_is_foreign(source));
  struct trace_event event = next(source, TRACE_THREAD_NAME);
  assert_string_equal(event.thread_name.name.bytes, "domain 0");
  event = next(source, TRACE_SAMPLE);
  assert_int_equal(event.sample.time_ns, 5000);
  assert_int_equal(event.sample.size, 80);
  assert_int_equal(event.sample.words, 11);
  assert_int_equal(event.sample.n_samples, 2);
  assert_false(event.sample.major);
  event = next(source, TRACE_SAMPLE);
  assert_true(event.sample.major);
  assert_int_equal(event.sample.source, TRACE_SOURCE_NORMAL);
  event = next(source, TRACE_SAMPLE);
  assert_int_equal(event.sample.source, TRACE_SOURCE_EXTERNAL);
  assert_int_equal(event.sample.words, 20);
  assert_int_equal(next(source, TRACE_PROMOTE).promote.block, 0);
  assert_int_equal(next(source, TRACE_FREE).free.block, 1);
  assert_false(source_next(source, &event));
  source_close(source);
  made_end(&made);
}

static void each_domain_is_a_thread(void **state) {
  (void)state;
  struct made made;
  struct samples *samples;
  char buffer[32];
  made_begin(&made, 3, 3, 1);
  made_random_events(&made, 3, 500, 50);
  made_write(&made);
  assert_int_equal(samples_read(open_made(&made), "made", NULL, NULL, &samples), WN_OK);
  assert_int_equal(samples->thread_count, 3);
  assert_string_equal(samples_thread_name(samples, 3, buffer), "domain 2");
  assert_int_equal(samples->unmatched, 0);
  samples_free(samples);
  made_end(&made);
}

/* A code with three places has three nodes, one without an address. */
static void frames_are_nodes_outermost_first(void **state) {
  (void)state;
  struct made made;
  const struct writer_place *places;
  uint64_t codes[] = {1, 5}; /* none, and three places */
  made_begin(&made, 3, 1, 1);
  for (unsigned i = 0; i < 10; i++) made_allocate(&made, 0, 1, 1, WRITER_MINOR, codes, 2 - i % 2);
  made_write(&made);
  struct source *source = open_made(&made);
  next(source, TRACE_THREAD_NAME);
  uint32_t node = next(source, TRACE_SAMPLE).sample.stack;
  assert_int_equal(next(source, TRACE_SAMPLE).sample.stack, 1);
  assert_int_equal(next(source, TRACE_SAMPLE).sample.stack, node);
  assert_int_equal(source_stack_count(source), 4);
  assert_int_equal(codes_places(5, &places), 3);
  for (size_t i = 3; i-- > 0; node = source_stack(source, node).parent) {
    struct trace_node frame = source_stack(source, node);
    struct trace_place place;
    assert_true(trace_is_language(source_module(source, frame.module)));
    assert_true(source_place(source, frame.module, frame.offset, &place));
    assert_string_equal(place.function.bytes, places[i].function);
    assert_string_equal(place.file.bytes, places[i].file);
    assert_int_equal(place.line, places[i].line);
    assert_int_equal(place.first_column, places[i].start + 1);
    assert_int_equal(place.last_column, places[i].end);
  }
  assert_int_equal(source_stack(source, node).module, 0);
  assert_int_equal(source_stack(source, node).offset, 1);
  assert_int_equal(source_stack(source, node).parent, 0);
  source_close(source);
  made_end(&made);
}

static void the_stamp_changes_as_the_file_grows(void **state) {
  (void)state;
  struct made made;
  made_begin(&made, 3, 1, 1);
  made_random_events(&made, 1, 100, 50);
  made_write(&made);
  const struct writer_bytes *file = &made.writer.file;
  uint64_t half = source_stamp(case_file(file->bytes, file->count / 2));
  uint64_t whole = source_stamp(case_file(file->bytes, file->count));
  assert_true(half && whole && half != whole);
  made_end(&made);
}

static void neither_format_is_one_line_that_names_both(void **state) {
  (void)state;
  struct source *source;
  assert_int_equal(source_open(case_file("hello, this is a text", 21), &source), WN_EFORMAT);
  assert_non_null(strstr(wn_last_error(), "Winnow"));
  assert_non_null(strstr(wn_last_error(), "Memtrace"));
}

/* ---- files of Memtrace ---- */

static void assert_sample(const char *name, size_t samples, size_t promotions, size_t collections) {
  const char *folder = getenv("WINNOW_SAMPLE_DATA");
  char path[4096];
  struct source *source;
  struct trace_event event;
  size_t counts[3] = {0};
  snprintf(path, sizeof path, "%s/memtrace/%s", folder ? folder : "/nowhere", name);
  if (access(path, R_OK)) {
    printf("no memtrace/%s in WINNOW_SAMPLE_DATA: not tried\n", name);
    return;
  }
  assert_int_equal(source_open(path, &source), WN_OK);
  while (source_next(source, &event)) {
    counts[0] += event.kind == TRACE_SAMPLE;
    counts[1] += event.kind == TRACE_PROMOTE;
    counts[2] += event.kind == TRACE_FREE;
  }
  assert_int_equal(counts[0], samples);
  assert_int_equal(counts[1], promotions);
  assert_int_equal(counts[2], collections);
  assert_int_equal(source_damage(source)->chunks_damaged, 0);
  assert_int_equal(source_damage(source)->stacks_lost, 0);
  source_close(source);
}

static void files_of_memtrace_are_read(void **state) {
  (void)state;
  assert_sample("deep-stacks.v1.ctf", 756, 216, 755);
  assert_sample("small.v2.ctf", 54, 28, 26);
  assert_sample("ocamlopt.v3.ctf", 1676, 257, 1566);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_have_their_words_and_areas),
      cmocka_unit_test(each_domain_is_a_thread),
      cmocka_unit_test(frames_are_nodes_outermost_first),
      cmocka_unit_test(the_stamp_changes_as_the_file_grows),
      cmocka_unit_test(neither_format_is_one_line_that_names_both),
      cmocka_unit_test(files_of_memtrace_are_read),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
