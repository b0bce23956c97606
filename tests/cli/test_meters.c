/* The functions that metrics name keep their names, and what they allocated never falls. */
#include "analysis/story.h"
#include "support/test.h"

#include "cli/scrape/meters.h"
#include <math.h>
#include <string.h>

enum { CHAIN = 100 };

/* How many more copies of texts there is memory for; below 0: for all. */
static int copies_left = -1;
char *__real_strdup(const char *text), *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text) {
  if (!copies_left) return NULL;
  copies_left -= copies_left > 0;
  return __real_strdup(text);
}

/* Blocks on stacks from..to, some freed. */
static void write_blocks(struct trace_writer *writer, uint32_t *block, uint32_t from, uint32_t to) {
  for (uint32_t i = from; i < to; i++) {
    ++*block;
    story_alloc(writer, *block, 100 * *block, 1000 * i, i);
    if (i % 3 == 0) story_free(writer, *block, 100 * *block + 50);
  }
}

static uint64_t update(struct meters *meters, uint64_t since_ns) {
  struct recording *recording;
  struct recording_options options = {.names = {.symbols = false}};
  struct report report;
  assert_int_equal(recording_load(story_path(), &options, &recording), WN_OK);
  assert_int_equal(report_ask(recording, &(struct question){.at = AT_END}, &report), WN_OK);
  assert_int_equal(meters_update(meters, &report, since_ns), WN_OK);
  double held = 0, allocated = 0, total = report_bytes(&report, &report.allocated).estimate;
  for (size_t i = 0; i < meters->count; i++) {
    held += meters->of[i].held.estimate;
    allocated += meters->of[i].allocated.estimate;
  }
  assert_true(fabs(held - report.asked.live.bytes.total) < 1e-3);
  assert_true(fabs(allocated - total) < 1e-3);
  assert_true(fabs(meters->all.allocated.estimate - total) < 1e-3);
  uint64_t next_ns = recording->samples->end_ns + 1;
  report_destroy(&report);
  recording_free(recording);
  return next_ns;
}

static void the_largest_have_names_and_keep_them(void **state) {
  (void)state;
  struct meters meters = {.count = 0}, before;
  struct trace_writer *writer = story_begin(1, CHAIN);
  uint32_t block = 0;
  uint64_t next_ns = 0;
  for (uint32_t from = 1; from + 10 < CHAIN; from += 10) {
    write_blocks(writer, &block, from, from + 10);
    before = meters;
    next_ns = update(&meters, next_ns);
    assert_true(meters.count >= before.count && meters.count <= METERS_MOST + 1);
    for (size_t i = 0; i < before.count; i++) {
      assert_string_equal(meters.of[i].name, before.of[i].name);
      assert_true(meters.of[i].allocated.estimate >= before.of[i].allocated.estimate);
    }
  }
  assert_int_equal(meters.count, METERS_MOST + 1);
  assert_string_equal(meters.of[0].name, "rest");
  assert_true(meters.of[0].allocated.estimate > 0);
  trace_writer_close(writer);
  unlink(story_path());
}

static void the_first_update_names_twenty(void **state) {
  (void)state;
  struct meters meters = {.count = 0};
  struct trace_writer *writer = story_begin(1, CHAIN);
  uint32_t block = 0;
  write_blocks(writer, &block, 1, 60);
  update(&meters, 0);
  assert_int_equal(meters.count, METERS_SHOWN + 1);
  for (size_t i = 2; i < meters.count; i++) assert_true(meters.of[i].allocated.estimate > 20000);
  trace_writer_close(writer);
  unlink(story_path());
}

/* Wherever memory ends: no function is left out of the sums. */
static void without_memory_the_meters_are_as_they_were(void **state) {
  (void)state;
  static struct meters meters, before;
  struct trace_writer *writer = story_begin(1, CHAIN);
  struct recording *recording;
  struct recording_options options = {.names = {.symbols = false}};
  struct report report;
  uint32_t block = 0;
  wn_status error;
  int failures = 0;
  write_blocks(writer, &block, 1, 60);
  assert_int_equal(recording_load(story_path(), &options, &recording), WN_OK);
  assert_int_equal(report_ask(recording, &(struct question){.at = AT_END}, &report), WN_OK);
  for (;; failures++) {
    copies_left = failures;
    error = meters_update(&meters, &report, 0);
    copies_left = -1;
    if (!error) break;
    assert_int_equal(error, WN_ENOMEM);
    assert_memory_equal(&meters, &before, sizeof meters);
  }
  assert_in_range(failures, 50, 200);
  assert_int_equal(meters.count, METERS_SHOWN + 1);
  report_destroy(&report);
  recording_free(recording);
  trace_writer_close(writer);
  unlink(story_path());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_largest_have_names_and_keep_them),
      cmocka_unit_test(the_first_update_names_twenty),
      cmocka_unit_test(without_memory_the_meters_are_as_they_were),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
