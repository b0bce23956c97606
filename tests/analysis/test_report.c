/* A report is a model: asked often, of one recording, with any query, moment, measure and
 * grouping. */
#include "analysis/story.h"
#include "support/test.h"

#include "analysis/report/report.h"
#include <math.h>

enum { CHAIN = 12, BLOCKS = 600, END_NS = 100000 };

/* Blocks of all sizes on stacks of all depths; two of three are freed, and one in five was
 * reallocated. */
static struct recording *record(void) {
  struct trace_writer *writer = story_begin(0.01, 5);
  for (uint32_t i = 1; i <= BLOCKS; i++) {
    story_alloc(writer, i, 100 * i, 16 + i % 40 * 8, i % CHAIN + 1);
    if (i % 5 == 0) story_resize(writer, i, 100 * i + 50, 1000 + i);
    if (i % 3) story_free(writer, i, 100 * i + 40 * (i % 500) + 60);
  }
  story_free(writer, BLOCKS + 1, END_NS); /* of an unknown block: the end */
  trace_writer_close(writer);
  struct recording *recording;
  assert_int_equal(
      recording_load(story_path(), &(struct recording_options){.names = {.symbols = false}}, &recording),
      WN_OK);
  unlink(story_path());
  return recording;
}

static bool same_sum(const struct sum *one, const struct sum *other) {
  return one->samples == other->samples && fabs(one->total - other->total) <= 1e-9 * fabs(one->total) &&
         fabs(one->variance - other->variance) <= 1e-9 * fabs(one->variance);
}

static bool same_report(const struct report *one, const struct report *other) {
  return same_sum(&one->allocated.bytes, &other->allocated.bytes) &&
         same_sum(&one->brief.bytes, &other->brief.bytes) &&
         same_sum(&one->live_at_end.bytes, &other->live_at_end.bytes) &&
         same_sum(&one->peak.live.bytes, &other->peak.live.bytes) &&
         one->asked.time_ns == other->asked.time_ns &&
         same_sum(&one->asked.live.bytes, &other->asked.live.bytes);
}

static const struct question questions[] = {{.at = AT_PEAK},
                                            {.at = AT_END},
                                            {.at = AT_TIME, .at_ns = 30000},
                                            {.where = "size > 100", .at = AT_PEAK},
                                            {.where = "life < 5us", .at = AT_TIME, .at_ns = 12345},
                                            {.where = "alive = yes", .at = AT_END}};
enum { QUESTIONS = sizeof questions / sizeof *questions };

static void questions_side_by_side_do_not_disturb_each_other(void **state) {
  (void)state;
  struct recording *recording = record();
  struct report together[QUESTIONS], alone;
  for (int i = 0; i < QUESTIONS; i++)
    assert_int_equal(report_ask(recording, &questions[i], &together[i]), WN_OK);
  for (int i = QUESTIONS; i--;) {
    assert_int_equal(report_ask(recording, &questions[i], &alone), WN_OK);
    assert_true(same_report(&together[i], &alone));
    for (int j = 0; j < QUESTIONS; j++) assert_true(i == j || !same_report(&together[j], &alone));
    report_destroy(&alone);
  }
  for (int i = 0; i < QUESTIONS; i++) report_destroy(&together[i]);
  recording_free(recording);
}

/* What the total of a measure is, by the totals of the report. */
static const struct sums *total_of(const struct report *report, enum measure measure) {
  switch (measure) {
  case MEASURE_HELD: return &report->asked.live;
  case MEASURE_ALLOCATED: return &report->allocated;
  case MEASURE_CHURN: return &report->brief;
  case MEASURE_ALIVE: return &report->live_at_end;
  default: return NULL;
  }
}

static void check_table(const struct report *report, enum measure measure, enum grouping grouping) {
  struct table table;
  double self = 0;
  assert_int_equal(report_table(report, measure, grouping, TABLE_LIVES, &table), WN_OK);
  const struct sums *all = &table.tree.nodes[0].total, *total = total_of(report, measure);
  for (size_t i = 0; i < table.tree.group_count; i++) {
    const struct group *group = &table.tree.groups[i];
    char name[256];
    self += group->self.bytes.total;
    assert_true(group->self.bytes.total <= group->total.bytes.total * (1 + 1e-9));
    table_name(&table, group, name, sizeof name);
    assert_true(*name);
    if (group->total.bytes.samples && measure != MEASURE_HELD)
      assert_int_not_equal(table_life(&table, group, EXTENT_TOTAL).samples, 0);
  }
  assert_true(fabs(self - all->bytes.total) <= 1e-9 * all->bytes.total);
  if (total) assert_true(fabs(total->bytes.total - all->bytes.total) <= 1e-9 * all->bytes.total);
  table_destroy(&table);
}

static void every_table_has_all_rows_and_adds_up(void **state) {
  (void)state;
  struct recording *recording = record();
  for (int i = 0; i < QUESTIONS; i++) {
    struct report report;
    assert_int_equal(report_ask(recording, &questions[i], &report), WN_OK);
    for (enum measure measure = 0; measure < MEASURES; measure++)
      for (int grouping = 0; grouping < GROUPINGS; grouping++)
        check_table(&report, measure, (enum grouping)grouping);
    report_destroy(&report);
  }
  recording_free(recording);
}

static void a_query_keeps_what_it_asks_for(void **state) {
  (void)state;
  struct recording *recording = record();
  struct report all, small, large;
  assert_int_equal(report_ask(recording, &(struct question){.at = AT_END}, &all), WN_OK);
  assert_int_equal(report_ask(recording, &(struct question){.where = "size <= 200", .at = AT_END}, &small),
                   WN_OK);
  assert_int_equal(
      report_ask(recording, &(struct question){.where = "not size <= 200", .at = AT_END}, &large), WN_OK);
  struct sums both = small.allocated;
  sum_merge(&both.bytes, &large.allocated.bytes);
  assert_true(same_sum(&both.bytes, &all.allocated.bytes));
  assert_true(small.allocated.bytes.samples && large.allocated.bytes.samples);
  report_destroy(&all);
  report_destroy(&small);
  report_destroy(&large);
  recording_free(recording);
}

static void a_wrong_question_is_an_error_and_no_more(void **state) {
  (void)state;
  struct recording *recording = record();
  struct report report;
  assert_int_equal(report_ask(recording, &(struct question){.where = "size >"}, &report), WN_EINVAL);
  assert_non_null(strstr(wn_last_error(), "query, column"));
  assert_int_equal(report_ask(recording, &(struct question){.at = AT_TIME, .at_ns = END_NS + 1}, &report),
                   WN_EINVAL);
  assert_non_null(strstr(wn_last_error(), "after the end"));
  assert_int_equal(report_ask(recording, &(struct question){.at = AT_TIME, .at_ns = END_NS}, &report), WN_OK);
  report_destroy(&report);
  recording_free(recording);
}

static void count_stages(const char *doing, double done, void *context) {
  unsigned *stages = context;
  assert_true(done >= 0 && done <= 1);
  *stages |= strcmp(doing, "Reading") ? 2 : 1;
}

static void a_trace_that_cannot_be_read_is_an_error(void **state) {
  (void)state;
  struct recording *recording;
  unsigned stages = 0;
  struct recording_options options = {.progress = count_stages, .progress_context = &stages};
  assert_int_equal(recording_load("/nowhere/at all", &options, &recording), WN_EIO);
  assert_non_null(strstr(wn_last_error(), "/nowhere/at all"));
  struct trace_writer *writer = story_begin(1, 0);
  story_alloc(writer, 1, 1, 8, 300);
  trace_writer_close(writer);
  options.wrappers.named = (const char *const[]){"no such function", NULL};
  assert_int_equal(recording_load(story_path(), &options, &recording), WN_EINVAL);
  assert_int_equal(stages, 3);
  unlink(story_path());
}

/* The largest amounts at the least rate, with changes of size: sums are numbers, and no number that
 * is made of them overflows (under UndefinedBehaviorSanitizer). */
static void the_largest_amounts_have_finite_sums(void **state) {
  (void)state;
  struct recording *recording;
  struct recording_options options = {.names.symbols = false};
  struct trace_writer *writer = story_begin(RATE_LEAST, 0);
  for (uint64_t block = 1; block <= 40; block++) {
    story_alloc(writer, block, block, block % 2 ? TRACE_AMOUNT_MOST : 8, 1);
    story_resize(writer, block, TRACE_TIME_MOST / 2, block % 3 ? TRACE_AMOUNT_MOST : 1);
    if (block % 4 == 0) story_free(writer, block, TRACE_TIME_MOST);
  }
  trace_writer_close(writer);
  assert_int_equal(recording_load(story_path(), &options, &recording), WN_OK);
  for (int i = 0; i < QUESTIONS; i++) {
    struct report report;
    assert_int_equal(report_ask(recording, &questions[i], &report), WN_OK);
    assert_true(isfinite(report.asked.live.bytes.total) && isfinite(report.asked.live.bytes.variance));
    assert_true(isfinite(report.allocated.bytes.total) && isfinite(report.peak.live.bytes.variance));
    for (enum measure measure = 0; measure < MEASURES; measure++) check_table(&report, measure, BY_FUNCTION);
    report_destroy(&report);
  }
  recording_free(recording);
  unlink(story_path());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(questions_side_by_side_do_not_disturb_each_other),
      cmocka_unit_test(every_table_has_all_rows_and_adds_up),
      cmocka_unit_test(a_query_keeps_what_it_asks_for),
      cmocka_unit_test(a_wrong_question_is_an_error_and_no_more),
      cmocka_unit_test(a_trace_that_cannot_be_read_is_an_error),
      cmocka_unit_test(the_largest_amounts_have_finite_sums),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
