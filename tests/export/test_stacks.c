/* The stacks of exports have what the report has, in whole numbers. */
#include "analysis/story.h"
#include "support/test.h"

#include "export/stacks.h"
#include <math.h>
#include <stdlib.h>

enum { CHAIN = 12, BLOCKS = 600, END_NS = 100000 };

/* Blocks of all sizes on stacks of all depths, some without a stack; two of three are freed, and
 * one in five was reallocated. */
static struct recording *record(double rate) {
  struct trace_writer *writer = story_begin(rate, 5);
  for (uint32_t i = 1; i <= BLOCKS; i++) {
    story_alloc(writer, i, 100 * i, i % 40 * 8, i % (CHAIN + 1));
    if (i % 5 == 0) story_resize(writer, i, 100 * i + 50, 1000 + i);
    if (i % 3) story_free(writer, i, 100 * i + 40 * (i % 500) + 60);
  }
  story_free(writer, BLOCKS + 1, END_NS); /* of an unknown block: the end */
  trace_writer_close(writer);
  struct recording *recording;
  struct recording_options options = {.names = {.symbols = false}};
  assert_int_equal(recording_load(story_path(), &options, &recording), WN_OK);
  unlink(story_path());
  return recording;
}

static const struct question questions[] = {{.at = AT_PEAK},
                                            {.at = AT_END},
                                            {.at = AT_TIME, .at_ns = 30000},
                                            {.where = "size > 100", .at = AT_PEAK},
                                            {.where = "size > 1G", .at = AT_END},
                                            {.where = "hide ~ \"0x3\"", .at = AT_PEAK},
                                            {.where = "from ~ \"0x2\"", .at = AT_END}};
enum { QUESTIONS = sizeof questions / sizeof *questions };

typedef void stacks_check(const struct report *report, struct export_stacks *stacks);

/* Checks the stacks of each question in each grouping. */
static void check_all(stacks_check *check) {
  static const double rates[] = {0.01, 0.3, 1};
  for (size_t rate = 0; rate < sizeof rates / sizeof *rates; rate++) {
    struct recording *recording = record(rates[rate]);
    for (int i = 0; i < QUESTIONS; i++) {
      struct report report;
      assert_int_equal(report_ask(recording, &questions[i], &report), WN_OK);
      for (int grouping = 0; grouping < GROUPINGS; grouping++) {
        struct export_stacks stacks;
        assert_int_equal(export_stacks_create(&report, (enum grouping)grouping, &stacks), WN_OK);
        check(&report, &stacks);
        export_stacks_destroy(&stacks);
      }
      report_destroy(&report);
    }
    recording_free(recording);
  }
}

static double total_of(const struct report *report, enum quantity quantity) {
  switch (quantity) {
  case QUANTITY_ALLOCATED_BLOCKS: return report_blocks(report, &report->allocated).estimate;
  case QUANTITY_ALLOCATED_BYTES: return report_bytes(report, &report->allocated).estimate;
  case QUANTITY_HELD_BLOCKS: return report_blocks(report, &report->asked.live).estimate;
  case QUANTITY_HELD_BYTES: return report_bytes(report, &report->asked.live).estimate;
  case QUANTITIES: break;
  }
  return NAN;
}

static void check_total(const struct report *report, struct export_stacks *stacks) {
  for (int quantity = 0; quantity < QUANTITIES; quantity++) {
    double total = 0;
    for (size_t i = 0; i < stacks->paths.node_count; i++) total += (double)stacks->values[i].value[quantity];
    assert_true(fabs(total - total_of(report, (enum quantity)quantity)) < 0.5001);
  }
}

static void values_add_up_to_the_totals_of_the_report(void **state) {
  (void)state;
  check_all(check_total);
}

static void check_rounding(const struct report *report, struct export_stacks *stacks) {
  (void)report;
  for (size_t i = 0; i < stacks->paths.node_count; i++)
    for (int quantity = 0; quantity < QUANTITIES; quantity++)
      assert_true(fabs((double)stacks->values[i].value[quantity] - stacks->values[i].estimate[quantity]) < 1);
}

static void values_are_estimates_rounded_up_or_down(void **state) {
  (void)state;
  check_all(check_rounding);
}

/* Adds what the nodes of one label own; of a grouping by stack, one node. */
static double owned(const struct report *report, struct export_stacks *stacks, const char *name,
                    enum quantity quantity) {
  char label[STACK_LABEL_MOST];
  double sum = 0;
  (void)report;
  for (size_t i = 0; i < stacks->paths.node_count; i++) {
    export_stacks_label(stacks, stacks->paths.nodes[i].label, label);
    if (!strcmp(label, name)) sum += stacks->values[i].estimate[quantity];
  }
  return sum;
}

static void check_owners(const struct report *report, struct export_stacks *stacks) {
  enum measure measures[] = {MEASURE_HELD, MEASURE_ALLOCATED};
  if (stacks->paths.grouping == BY_STACK) return;
  for (int k = 0; k < 2; k++) {
    struct table table;
    char name[STACK_LABEL_MOST];
    assert_int_equal(report_table(report, measures[k], stacks->paths.grouping, TABLE_SUMS, &table), WN_OK);
    for (size_t i = 0; i < table.tree.group_count; i++) {
      const struct group *group = &table.tree.groups[i];
      table_name(&table, group, name, sizeof name);
      for (int quantity = 0; quantity < QUANTITIES; quantity++) {
        const struct quantity_kind *kind = &quantity_kinds[quantity];
        if (kind->measure != measures[k]) continue;
        double self = kind->bytes ? group->self.bytes.total : group->self.blocks.total;
        assert_true(fabs(owned(report, stacks, name, (enum quantity)quantity) - self) <= 1e-9 * (1 + self));
      }
    }
    table_destroy(&table);
  }
}

static void functions_own_what_their_rows_in_the_report_have(void **state) {
  (void)state;
  check_all(check_owners);
}

static void check_order(const struct report *report, struct export_stacks *stacks) {
  size_t count = stacks->paths.node_count;
  bool *met = calloc(count, sizeof *met);
  (void)report;
  for (size_t i = 0; i < count; i++) {
    uint32_t node = stacks->order[i];
    size_t depth = export_stacks_path(stacks, node);
    assert_false(met[node]);
    met[node] = true;
    assert_true(!i || met[stacks->paths.nodes[node].parent]);
    /* The node before is the caller, or one that the caller's earlier callees call. */
    if (i && stacks->paths.nodes[node].parent) {
      size_t before = export_stacks_path(stacks, stacks->order[i - 1]);
      bool below = false;
      for (size_t k = 0; k < before; k++)
        below = below || stacks->path[k] == stacks->paths.nodes[node].parent;
      assert_true(below && depth <= before + 1);
    }
  }
  free(met);
}

static void a_caller_comes_before_what_it_calls(void **state) {
  (void)state;
  check_all(check_order);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_add_up_to_the_totals_of_the_report),
      cmocka_unit_test(values_are_estimates_rounded_up_or_down),
      cmocka_unit_test(functions_own_what_their_rows_in_the_report_have),
      cmocka_unit_test(a_caller_comes_before_what_it_calls),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
