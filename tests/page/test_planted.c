/* What was planted in a made-up program stands first under its question. */
#include "page/planted.h"
#include "support/test.h"

#include "analysis/report/report.h"
#include <stdio.h>
#include <unistd.h>

static struct recording *load(enum planted_kind kind, uint64_t seed) {
  char path[64];
  struct recording *recording;
  snprintf(path, sizeof path, "planted_%d.trace", (int)getpid());
  assert_int_equal(planted_write(path, kind, seed), WN_OK);
  struct recording_options options = {.names = {.symbols = false}};
  assert_int_equal(recording_load(path, &options, &recording), WN_OK);
  unlink(path);
  return recording;
}

/* The name of the function with the most of its own bytes. */
static const char *first_by_size(struct report *report, enum measure measure) {
  static char name[64];
  struct table table;
  const struct group *first = NULL;
  assert_int_equal(report_table(report, measure, BY_FUNCTION, TABLE_SUMS, &table), WN_OK);
  for (size_t i = 0; i < table.tree.group_count; i++)
    if (!first || table.tree.groups[i].self.bytes.total > first->self.bytes.total)
      first = &table.tree.groups[i];
  assert_non_null(first);
  table_name(&table, first, name, sizeof name);
  table_destroy(&table);
  return name;
}

static struct growth growth_of_function(struct table *table, const char *function) {
  char name[64];
  for (size_t i = 0; i < table->tree.group_count; i++) {
    table_name(table, &table->tree.groups[i], name, sizeof name);
    if (!strcmp(name, function)) return table_growth(table, &table->tree.groups[i], EXTENT_SELF);
  }
  return (struct growth){.kind = GROWTH_KIND_COUNT};
}

static void the_planted_function_is_first_under_its_question(void **state) {
  (void)state;
  for (int collected = 0; collected < 2; collected++) {
    struct recording *recording = load(collected ? PLANTED_COLLECTED : PLANTED_MALLOC, 1);
    struct report report;
    assert_int_equal(report_ask(recording, &(struct question){.at = AT_PEAK}, &report), WN_OK);
    assert_string_equal(first_by_size(&report, MEASURE_HELD), "spikes");
    assert_string_equal(first_by_size(&report, MEASURE_CHURN), "churns");
    assert_string_equal(first_by_size(&report, MEASURE_ALLOCATED), "churns");
    assert_string_equal(first_by_size(&report, MEASURE_LASTING), "caches");
    if (collected) assert_string_equal(first_by_size(&report, MEASURE_PROMOTED), "dies_promoted");
    report_destroy(&report);
    assert_int_equal(report_ask(recording, &(struct question){.at = AT_END}, &report), WN_OK);
    assert_string_equal(first_by_size(&report, MEASURE_HELD), "caches");
    report_destroy(&report);
    recording_free(recording);
  }
}

/* The leak alone grows steadily, at its rate; the cache is five times as large. */
static void find_the_leak(enum planted_kind kind) {
  static const struct {
    const char *function;
    enum growth_kind kind;
  } planted[] = {{"leaks", GROWTH_STEADY},      {"caches", GROWTH_ONCE}, {"refills", GROWTH_UNEVEN},
                 {"churns", GROWTH_KIND_COUNT}, {"main", GROWTH_FEW},    {"dies_promoted", GROWTH_RECENT}};
  int steady = 0, seeds = 8;
  for (int seed = 1; seed <= seeds; seed++) {
    struct recording *recording = load(kind, (uint64_t)seed);
    struct report report;
    struct table table;
    assert_int_equal(report_ask(recording, &(struct question){.closing = true}, &report), WN_OK);
    assert_int_equal(report_table(&report, MEASURE_ALIVE, BY_FUNCTION, TABLE_GROWTH, &table), WN_OK);
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) {
      struct growth growth = growth_of_function(&table, planted[i].function);
      bool as_planted = growth.kind == planted[i].kind;
      if (planted[i].kind == GROWTH_STEADY)
        steady += as_planted && growth.rate.low <= 40000 && 40000 <= growth.rate.high;
      else if (growth.kind == GROWTH_STEADY || (planted[i].kind == GROWTH_ONCE && !as_planted))
        fail_msg("%s: %s", planted[i].function, growth_word(growth.kind));
    }
    table_destroy(&table);
    report_destroy(&report);
    recording_free(recording);
  }
  assert_true(steady >= seeds - 1);
}

static void the_leak_alone_grows_steadily(void **state) {
  (void)state;
  find_the_leak(PLANTED_MALLOC);
}

static void a_program_that_frees_all_as_it_exits_hides_no_leak(void **state) {
  (void)state;
  find_the_leak(PLANTED_EXITS);
  struct recording *recording = load(PLANTED_EXITS, 1), *other = load(PLANTED_MALLOC, 1);
  struct report report;
  assert_true(recording->closing_ns < PLANTED_EXIT_MS * PLANTED_MS);
  assert_true(recording->closing_ns > (PLANTED_EXIT_MS - 500) * PLANTED_MS);
  assert_true(other->closing_ns == other->samples->end_ns);
  assert_int_equal(report_ask(recording, &(struct question){.closing = true}, &report), WN_OK);
  assert_string_equal(first_by_size(&report, MEASURE_ALIVE), "caches");
  assert_int_equal(report.live_at_end.bytes.samples, 0);
  assert_true(report.alive.bytes.samples > 500);
  report_destroy(&report);
  assert_int_equal(report_ask(recording, &(struct question){.closing = false}, &report), WN_OK);
  assert_int_equal(report.alive.bytes.samples, 0);
  report_destroy(&report);
  recording_free(recording);
  recording_free(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_planted_function_is_first_under_its_question),
      cmocka_unit_test(the_leak_alone_grows_steadily),
      cmocka_unit_test(a_program_that_frees_all_as_it_exits_hides_no_leak),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
