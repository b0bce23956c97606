/* What the program mapped itself, from the records of a trace. */
#include "analysis/story.h"

#include "analysis/load/samples.h"

static void map(struct trace_writer *writer, uint64_t mapping, uint64_t time, uint64_t bytes, uint8_t kind) {
  assert_true(tree_write_map(writer, &(struct trace_map){.time_ns = time,
                                                         .thread = 1,
                                                         .mapping = mapping,
                                                         .bytes = bytes,
                                                         .kind = kind,
                                                         .stack = (uint32_t)mapping}));
}

static void size(struct trace_writer *writer, uint64_t mapping, uint64_t time, uint64_t bytes) {
  trace_write_map_size(
      writer, &(struct trace_map_size){.time_ns = time, .thread = 1, .mapping = mapping, .bytes = bytes});
}

static void touch(struct trace_writer *writer, uint64_t mapping, uint64_t time, uint64_t bytes,
                  uint64_t files) {
  trace_write_map_touched(
      writer, &(struct trace_map_touched){
                  .time_ns = time, .thread = 1, .mapping = mapping, .bytes = bytes, .files = files});
}

static void measure(struct trace_writer *writer, uint64_t time, uint64_t rss, uint64_t own, bool complete) {
  trace_write_memory(
      writer,
      &(struct trace_memory){
          .time_ns = time, .thread = 1, .rss_bytes = rss, .private_bytes = own, .complete = complete});
}

static const struct row *row_at(const struct samples *samples, uint64_t mapping, uint64_t time) {
  for (size_t i = 0; i < samples->mapped.count; i++) {
    const struct row *row = &samples->mapped.rows[i];
    if (row->block == mapping && row->begin_ns <= time && time < row->end_ns) return row;
  }
  return NULL;
}

static void sizes_are_joined_in_any_order(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 0);
  size(writer, 1, 50, 0);
  size(writer, 1, 30, 4096);
  map(writer, 2, 20, 65536, TRACE_MAP_FILE);
  map(writer, 1, 10, 81920, TRACE_MAP_ANONYMOUS);
  size(writer, 3, 40, 4096); /* its begin was lost */
  size(writer, 1, 40, 8192);
  struct samples *samples = story_load(writer);
  assert_null(row_at(samples, 1, 9));
  assert_int_equal(row_at(samples, 1, 10)->size, 81920);
  assert_int_equal(row_at(samples, 1, 30)->size, 4096);
  assert_int_equal(row_at(samples, 1, 49)->size, 8192);
  assert_null(row_at(samples, 1, 50));
  assert_int_equal(row_at(samples, 2, 1000)->size, 65536);
  assert_null(row_at(samples, 3, 40));
  assert_int_equal(samples->mapped.count, 4);
  for (size_t i = 1; i < samples->mapped.count; i++)
    assert_true(samples->mapped.rows[i - 1].begin_ns <= samples->mapped.rows[i].begin_ns);
  samples_free(samples);
}

static void a_mapping_has_what_was_last_found_resident(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 0);
  map(writer, 1, 10, 81920, TRACE_MAP_ANONYMOUS);
  map(writer, 2, 10, 81920, TRACE_MAP_ANONYMOUS);
  touch(writer, 2, 15, 12288, 0);
  touch(writer, 1, 30, 40960, 0);
  touch(writer, 1, 20, 8192, 0);
  size(writer, 1, 40, 16384);
  struct samples *samples = story_load(writer);
  const double bytes[] = {0, 0, 8192, 40960, 16384};
  for (uint64_t i = 1; i <= 4; i++)
    assert_true(mapped_resident(samples, row_at(samples, 1, 10 * i), 10 * i) == bytes[i]);
  assert_true(mapped_resident(samples, row_at(samples, 2, 14), 14) == 0);
  assert_true(mapped_resident(samples, row_at(samples, 2, 50), 50) == 12288);
  samples_free(samples);
}

/* Only moments at which mappings were measured too can be taken apart. What was written of a
 * private mapping of a file is memory of the program's own. */
static void the_moment_is_that_of_the_largest_complete_measurement(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 0);
  story_alloc(writer, 1, 5, 100000, 1);
  map(writer, 1, 10, 500000, TRACE_MAP_ANONYMOUS);
  map(writer, 2, 10, 300000, TRACE_MAP_FILE);
  touch(writer, 1, 19, 200000, 0);
  touch(writer, 2, 19, 60000, 45000);
  measure(writer, 20, 600000, 450000, true);
  measure(writer, 30, 900000, 800000, false);
  measure(writer, 40, 500000, 400000, true);
  struct samples *samples = story_load(writer);
  struct resident most = mapped_when_most_was_resident(samples);
  assert_int_equal(most.time_ns, 20);
  assert_int_equal(most.rss_bytes, 600000);
  assert_int_equal(most.most_bytes, 900000);
  assert_true(most.mapped_bytes == 800000);
  assert_true(most.mapped_private == 215000 && most.mapped_files == 45000);
  assert_true(most.files_bytes == 105000 && most.private_bytes == 450000);
  samples_free(samples);
}

/* Stacks have a part of their own. */
static void stacks_of_threads_are_no_mappings_of_the_programs(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 0);
  map(writer, 1, 10, 500000, TRACE_MAP_ANONYMOUS);
  map(writer, 2, 10, 8388608, TRACE_MAP_STACK);
  map(writer, 3, 10, 8388608, TRACE_MAP_STACK);
  touch(writer, 1, 19, 200000, 0);
  touch(writer, 2, 19, 60000, 0);
  touch(writer, 3, 19, 50000, 0);
  size(writer, 3, 15, 0); /* its thread ended */
  measure(writer, 20, 600000, 450000, true);
  struct samples *samples = story_load(writer);
  struct resident most = mapped_when_most_was_resident(samples);
  assert_true(most.stack_bytes == 60000);
  assert_true(most.mapped_bytes == 500000 && most.mapped_private == 200000);
  samples_free(samples);
}

/* What is freed stays resident: when the heap held the most says more. */
static void
of_moments_at_which_nearly_the_most_was_resident_that_next_to_the_heaps_peak_counts(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 0);
  measure(writer, 20, 8700000, 7000000, true);
  measure(writer, 30, 8800000, 8000000, true);
  measure(writer, 40, 10000000, 8000000, true);
  struct samples *samples = story_load(writer);
  const struct { uint64_t peak, moment; } known[] = {{0, 30}, {20, 30}, {34, 30}, {36, 40}, {1000, 40}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    struct resident most = mapped_when_nearly_most_was_resident(samples, known[i].peak);
    assert_int_equal(most.time_ns, known[i].moment);
    assert_int_equal(most.most_bytes, 10000000);
  }
  assert_int_equal(mapped_when_most_was_resident(samples).time_ns, 40);
  samples_free(samples);
}

static void older_traces_have_no_mappings_and_count_all_the_same(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 0);
  measure(writer, 20, 600000, 450000, false);
  measure(writer, 30, 700000, 500000, false);
  struct samples *samples = story_load(writer);
  struct resident most = mapped_when_most_was_resident(samples);
  assert_int_equal(most.rss_bytes, 700000);
  assert_true(most.files_bytes == 200000 && most.mapped_bytes == 0);
  samples_free(samples);
  samples = story_load(story_begin(1, 0));
  assert_int_equal(mapped_when_most_was_resident(samples).rss_bytes, 0);
  samples_free(samples);
}

/* Before an exec that fails the process is measured as if for the last time. */
static void a_count_long_before_a_signal_is_not_the_ends(void **state) {
  (void)state;
  for (int kind = 0; kind < 2; kind++) {
    struct trace_writer *writer = story_begin(1, 0);
    trace_write_memory(writer, &(struct trace_memory){.time_ns = 20,
                                                      .thread = 1,
                                                      .rss_bytes = 700000,
                                                      .private_bytes = 450000,
                                                      .peak_bytes = 750000,
                                                      .complete = true});
    trace_write_end(writer,
                    &(struct trace_end){.time_ns = 30, .kind = kind ? TRACE_END_SIGNAL : TRACE_END_LEFT});
    struct samples *samples = story_load(writer);
    struct resident most = mapped_when_most_was_resident(samples);
    assert_true(most.most_bytes == 750000 && most.counted == !kind && most.explained == !kind);
    samples_free(samples);
  }
}

/* The kernel may have counted more than was ever measured, and at the end alone. */
static void what_was_not_measured_is_not_explained(void **state) {
  (void)state;
  static const struct {
    uint64_t peak;
    bool counted, explained;
  } cases[] = {{0, false, false}, {500000, true, true}, {840000, true, true}, {840001, true, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct trace_writer *writer = story_begin(1, 0);
    measure(writer, 20, 700000, 450000, true);
    trace_write_end(writer, &(struct trace_end){.time_ns = 30, .peak_bytes = cases[i].peak});
    struct samples *samples = story_load(writer);
    struct resident most = mapped_when_most_was_resident(samples);
    assert_int_equal(most.rss_bytes, 700000);
    assert_int_equal(most.most_bytes, cases[i].peak > 700000 ? cases[i].peak : 700000);
    assert_int_equal(most.counted, cases[i].counted);
    assert_int_equal(most.explained, cases[i].explained);
    samples_free(samples);
  }
  struct trace_writer *writer = story_begin(1, 0);
  trace_write_end(writer, &(struct trace_end){.time_ns = 30, .peak_bytes = 9});
  struct samples *samples = story_load(writer);
  struct resident most = mapped_when_most_was_resident(samples);
  assert_true(most.most_bytes == 9 && !most.rss_bytes && most.counted && !most.explained);
  samples_free(samples);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_are_joined_in_any_order),
      cmocka_unit_test(a_mapping_has_what_was_last_found_resident),
      cmocka_unit_test(the_moment_is_that_of_the_largest_complete_measurement),
      cmocka_unit_test(stacks_of_threads_are_no_mappings_of_the_programs),
      cmocka_unit_test(of_moments_at_which_nearly_the_most_was_resident_that_next_to_the_heaps_peak_counts),
      cmocka_unit_test(older_traces_have_no_mappings_and_count_all_the_same),
      cmocka_unit_test(what_was_not_measured_is_not_explained),
      cmocka_unit_test(a_count_long_before_a_signal_is_not_the_ends),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
