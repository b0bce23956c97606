/* The parts of resident memory, at any moment. */
#include "analysis/story.h"

#include "analysis/report/resident.h"
#include <math.h>
#include <string.h>

/* TAKEN: what a block of 100 bytes takes. */
enum { MB = 1000000, PART_OF_FILES = 2 * MB, OWN = MB / 2, DATA = MB, TAKEN = 112 };

static struct recording *recording;

static void load(struct trace_writer *writer) {
  trace_writer_close(writer);
  struct recording_options options = {.names = {.symbols = false}};
  assert_int_equal(recording_load(story_path(), &options, &recording), WN_OK);
  unlink(story_path());
}

static void measure(struct trace_writer *writer, uint64_t time, uint64_t private, uint64_t in_use,
                    uint64_t free) {
  trace_write_memory(writer, &(struct trace_memory){.time_ns = time,
                                                    .thread = 1,
                                                    .rss_bytes = private + PART_OF_FILES,
                                                    .private_bytes = private,
                                                    .complete = 1,
                                                    .own_bytes = OWN,
                                                    .asked = in_use ? TRACE_GLIBC : TRACE_NOT_ASKED,
                                                    .in_use_bytes = in_use,
                                                    .free_bytes = free});
}

static void blocks(struct trace_writer *writer, uint64_t first, uint64_t count, uint64_t time) {
  for (uint64_t i = 0; i < count; i++) story_alloc(writer, first + i, time, 100, 1);
}

/* The parts at a time; checks that they add up. */
static struct resident_parts parts_at(uint64_t time_ns) {
  struct report report;
  struct question question = {.at = AT_TIME, .at_ns = time_ns};
  assert_int_equal(report_ask(recording, &question, &report), WN_OK);
  struct resident resident = report_resident(&report);
  struct resident_parts parts = resident_parts(&report, &resident);
  double sum = 0;
  for (int i = 0; i < RESIDENT_PARTS; i++) sum += parts.part[i].estimate;
  assert_true(fabs(sum - (double)resident.rss_bytes) < 1);
  report_destroy(&report);
  return parts;
}

static double part(const struct resident_parts *parts, enum resident_part_name name) {
  return round(parts->part[name].estimate);
}

/* 10000 blocks are followed at rate 1; 6000 of them are freed, and stay resident. */
static void tell_of_freed_blocks(struct trace_writer *writer) {
  blocks(writer, 1, 10000, 100);
  measure(writer, 200, DATA + OWN + 10000 * TAKEN, 0, 0);
  for (uint64_t i = 1; i <= 6000; i++) story_free(writer, i, 300);
  measure(writer, 400, DATA + OWN + 10000 * TAKEN, 4000 * TAKEN, 6000 * TAKEN);
  blocks(writer, 20000, 1000, 500);
  measure(writer, 600, DATA + OWN + 10500 * TAKEN, 0, 0); /* half of them in free memory */
  story_free(writer, 90000, 700);
}

static void what_the_allocator_told_is_exact(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 0);
  tell_of_freed_blocks(writer);
  load(writer);
  struct resident_parts parts = parts_at(400);
  assert_true(parts.answered && parts.answered_ns == 400);
  assert_true(part(&parts, PART_BLOCKS) == 400000 && part(&parts, PART_HEADERS) == 4000 * 12);
  assert_true(part(&parts, PART_FREE) == 6000 * TAKEN && part(&parts, PART_REST) == DATA);
  assert_true(part(&parts, PART_FILES) == PART_OF_FILES && part(&parts, PART_OWN) == OWN);
  recording_free(recording);
}

/* The data is as large as then, and the blocks have changed as the samples say. */
static void between_answers_the_samples_tell_the_difference(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 0);
  tell_of_freed_blocks(writer);
  load(writer);
  struct resident_parts before = parts_at(200), after = parts_at(600);
  assert_true(part(&before, PART_BLOCKS) == 1000000 && part(&before, PART_FREE) == 0 &&
              before.answered_ns == 400);
  assert_true(part(&before, PART_REST) == DATA && part(&after, PART_REST) == DATA);
  assert_true(part(&after, PART_BLOCKS) == 500000 && part(&after, PART_FREE) == 5500 * TAKEN);
  recording_free(recording);
}

static void without_an_answer_free_memory_is_in_the_rest(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 0);
  measure(writer, 50, OWN, 0, 0);
  blocks(writer, 1, 1000, 100);
  measure(writer, 200, 5 * MB, 0, 0);
  story_free(writer, 90000, 700);
  load(writer);
  struct resident_parts parts = parts_at(200);
  assert_true(!parts.answered && part(&parts, PART_FREE) == 0);
  assert_true(part(&parts, PART_REST) == 5 * MB - OWN - 1000 * TAKEN);
  recording_free(recording);
}

static void what_is_held_and_never_written_is_taken_off(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 0);
  story_alloc(writer, 1, 100, 50 * MB, 1);
  measure(writer, 200, 3 * MB, 50 * MB + 4096, MB);
  story_free(writer, 90000, 700);
  load(writer);
  struct resident_parts parts = parts_at(200);
  assert_true(part(&parts, PART_UNWRITTEN) == 3 * MB - OWN - 50 * MB - 4096 - MB &&
              part(&parts, PART_REST) == 0);
  recording_free(recording);
}

/* A large block is written after the answer. */
static void what_is_written_later_is_not_taken_for_free_memory(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 0);
  story_alloc(writer, 1, 100, 50 * MB, 1);
  measure(writer, 200, 3 * MB, 50 * MB + 16, MB);
  measure(writer, 300, 40 * MB, 0, 0);
  story_free(writer, 90000, 700);
  load(writer);
  struct resident_parts parts = parts_at(300);
  assert_true(part(&parts, PART_FREE) == MB && part(&parts, PART_BLOCKS) == 50 * MB);
  assert_true(part(&parts, PART_UNWRITTEN) == 40 * MB - OWN - 50 * MB - 16 - MB);
  recording_free(recording);
}

/* A process that has 300 blocks of its parent, which no record tells of. Its first measurement may come
 * late, on a busy machine; with a sample before it, it does not tell what the process had before. */
static void blocks_of_before_are_apart(void **state) {
  (void)state;
  enum { LATE = 30 * 1000 * 1000 };
  const struct {
    uint64_t measured, begin; /* of the blocks */
    double earlier;
  } cases[] = {{50, 100, 300 * TAKEN}, {LATE, LATE + 100, 300 * TAKEN}, {LATE, 100, 0}};
  for (int i = 0; i < 3; i++) {
    uint64_t at = cases[i].measured;
    struct trace_writer *writer = story_begin(1, 0);
    measure(writer, at, DATA + OWN + 300 * TAKEN, 0, 0);
    blocks(writer, 1, 1000, cases[i].begin);
    measure(writer, at + 200, DATA + OWN + 1300 * TAKEN, 1300 * TAKEN, 0);
    story_free(writer, 90000, at + 700);
    load(writer);
    struct resident_parts parts = parts_at(at + 200);
    assert_true(part(&parts, PART_EARLIER) == cases[i].earlier);
    if (cases[i].earlier > 0) assert_true(part(&parts, PART_BLOCKS) == 100000);
    recording_free(recording);
  }
}

static void collection(struct trace_writer *writer, uint64_t time, uint64_t ns, uint64_t cycles) {
  struct trace_collection event = {.time_ns = time,
                                   .thread = 1,
                                   .kind = TRACE_COLLECTION_MAJOR,
                                   .ns = ns,
                                   .minor_words = 100 * time,
                                   .direct_words = 100 * time,
                                   .major_cycles = cycles,
                                   .heap_words = MB / 8,
                                   .domains = 1};
  assert_true(trace_write_collection(writer, &event));
}

static void block_of_heap(struct trace_writer *writer, uint64_t block, uint64_t time, bool major) {
  struct trace_sample sample = {.time_ns = time,
                                .thread = 1,
                                .block = block,
                                .size = 992,
                                .words = 125,
                                .n_samples = 125,
                                .stack = 1,
                                .major = major};
  assert_true(tree_write_sample(writer, &sample));
}

/* 100 blocks of 992 bytes, of which the cycle of the times 300 to 500 finds 40 dead; and 10 young ones, which
 * that cycle does not see. */
static void a_collected_heap_has_headers_garbage_and_free_memory(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 0);
  collection(writer, 10, 5, 0);
  for (uint64_t i = 1; i <= 100; i++) block_of_heap(writer, i, 100, true);
  measure(writer, 250, 3 * MB, 0, 0);
  for (uint64_t i = 101; i <= 110; i++) block_of_heap(writer, i, 350, false);
  measure(writer, 400, 3 * MB, 0, 0);
  for (uint64_t i = 1; i <= 40; i++) story_free(writer, i, 450);
  for (uint64_t i = 101; i <= 110; i++) story_free(writer, i, 460);
  collection(writer, 500, 200, 1);
  collection(writer, 700, 5, 1);
  load(writer);
  struct resident_parts parts = parts_at(400), before = parts_at(250);
  assert_true(part(&parts, PART_GARBAGE) == 40 * 992 && part(&parts, PART_BLOCKS) == 70 * 992);
  assert_true(part(&before, PART_GARBAGE) == 0 && part(&before, PART_BLOCKS) == 100 * 992);
  assert_true(part(&parts, PART_HEADERS) == 880 && part(&parts, PART_FREE) == MB - 100 * 1000);
  recording_free(recording);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_the_allocator_told_is_exact),
      cmocka_unit_test(between_answers_the_samples_tell_the_difference),
      cmocka_unit_test(without_an_answer_free_memory_is_in_the_rest),
      cmocka_unit_test(what_is_held_and_never_written_is_taken_off),
      cmocka_unit_test(what_is_written_later_is_not_taken_for_free_memory),
      cmocka_unit_test(blocks_of_before_are_apart),
      cmocka_unit_test(a_collected_heap_has_headers_garbage_and_free_memory),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
