/* Another format than Winnow's own, made up: a collected heap with words of 4 bytes, whose stacks
 * have places with columns and whose run has no collection. All that is above the sources reads it
 * without knowing that. */
#include "support/test.h"

#include "analysis/report/report.h"
#include "sources/source.h"
#include <stdlib.h>

enum { EVENTS = 4, BLOCK_BYTES = 40 };

struct made_up {
  struct source source;
  unsigned at;
  bool *closed;
};

static struct made_up *made_up(const struct source *source) { return (struct made_up *)(uintptr_t)source; }

static void close_made_up(struct source *source) {
  *made_up(source)->closed = true;
  free(source);
}

static bool next(struct source *source, struct trace_event *event) {
  static const struct trace_event events[EVENTS] = {
      {.kind = TRACE_SAMPLE,
       .sample = {.time_ns = 10,
                  .thread = 1,
                  .stack = 1,
                  .block = 1,
                  .size = BLOCK_BYTES,
                  .words = 11,
                  .n_samples = 1,
                  .rate = 0.01}},
      {.kind = TRACE_SAMPLE,
       .sample = {.time_ns = 20,
                  .thread = 1,
                  .stack = 2,
                  .block = 2,
                  .size = BLOCK_BYTES,
                  .words = 11,
                  .n_samples = 1,
                  .rate = 0.01}},
      {.kind = TRACE_PROMOTE, .promote = {.time_ns = 30, .thread = 1, .block = 1}},
      {.kind = TRACE_FREE, .free = {.time_ns = 1000, .thread = 1, .block = 2}}};
  if (made_up(source)->at == EVENTS) return false;
  *event = events[made_up(source)->at++];
  return true;
}

static const struct trace_run *run(const struct source *source) {
  static struct trace_run run = {.rate = 0.01, .word_bytes = 4, .pid = 7};
  (void)source;
  run.command = run.host = run.heap = run.version = run.title = run.name = trace_text_of("");
  return &run;
}

static enum source_heap heap(const struct source *source) {
  (void)source;
  return SOURCE_HEAP_COLLECTED;
}

static const struct trace_damage *damage(const struct source *source) {
  (void)source;
  static const struct trace_damage complete = {.complete = true};
  return &complete;
}

static uint32_t stack_count(const struct source *source) {
  (void)source;
  return 2;
}

/* `leaf` is called by `root`. */
static struct trace_node stack(const struct source *source, uint32_t number) {
  (void)source;
  return (struct trace_node){.parent = number - 1, .module = 1, .offset = number};
}

static uint32_t module_count(const struct source *source) {
  (void)source;
  return 1;
}

static const struct trace_module *module(const struct source *source, uint32_t number) {
  static struct trace_module language = {.base = TRACE_LANGUAGE_BASE};
  (void)source, (void)number;
  language.path = trace_text_of("[made up]");
  return &language;
}

static bool place(const struct source *source, uint32_t of, uint64_t offset, struct trace_place *out) {
  (void)source, (void)of;
  *out = (struct trace_place){.function = trace_text_of(offset == 1 ? "root" : "leaf"),
                              .file = trace_text_of("made.up"),
                              .line = 3 * (uint32_t)offset,
                              .first_column = 5,
                              .last_column = 9};
  return true;
}

static double position(const struct source *source) { return made_up(source)->at / (double)EVENTS; }

static const struct source_format format = {.close = close_made_up,
                                            .next = next,
                                            .run = run,
                                            .heap = heap,
                                            .damage = damage,
                                            .stack_count = stack_count,
                                            .stack = stack,
                                            .module_count = module_count,
                                            .module = module,
                                            .place = place,
                                            .position = position};

static bool is_closed;

static struct recording *load(void) {
  struct made_up *made = malloc(sizeof *made);
  struct recording *recording;
  struct recording_options options = {.names.symbols = true};
  is_closed = false;
  *made = (struct made_up){.source.format = &format, .closed = &is_closed};
  assert_int_equal(recording_read(&made->source, "made up", &options, &recording), WN_OK);
  return recording;
}

static void a_collected_heap_is_known_by_its_run(void **state) {
  (void)state;
  struct recording *recording = load();
  assert_true(recording->samples->collected);
  assert_int_equal(recording->samples->life.collection_count, 0);
  assert_int_equal(recording->samples->rows[0].area, AREA_MINOR);
  assert_int_equal(recording->samples->rows[0].promoted_ns, 30);
  recording_free(recording);
  assert_true(is_closed);
}

static void the_word_is_the_traces(void **state) {
  (void)state;
  struct recording *recording = load();
  double p = inclusion_probability(0.01, 11);
  assert_true(recording->byte_unit == 4 / 0.01);
  /* The clock goes on by each block's words, and its header. */
  double first = recording->samples->life_words[1], second = (BLOCK_BYTES / 4 + 1) / p;
  assert_true(first >= 0 && first <= 2 * second);
  struct report report;
  struct question of_large = {.where = "life_bytes >= 1"};
  assert_int_equal(report_ask(recording, &of_large, &report), WN_OK);
  report_destroy(&report);
  recording_free(recording);
}

static void places_have_lines_and_columns(void **state) {
  (void)state;
  struct recording *recording = load();
  struct frames frames = names_of(&recording->names, 2);
  assert_int_equal(frames.count, 1);
  assert_string_equal(strings_text(recording->names.strings, frames.frame->function), "leaf");
  assert_string_equal(strings_text(recording->names.strings, frames.frame->file), "made.up");
  assert_int_equal(frames.frame->line, 6);
  assert_int_equal(frames.frame->first_column, 5);
  assert_int_equal(frames.frame->last_column, 9);
  recording_free(recording);
}

static void tables_are_made_of_it(void **state) {
  (void)state;
  struct recording *recording = load();
  struct report report;
  struct table table;
  char name[64];
  assert_int_equal(report_ask(recording, &(struct question){.at = AT_END}, &report), WN_OK);
  assert_int_equal(
      report_table(&report, MEASURE_ALLOCATED, BY_LINE, TABLE_LIVES | TABLE_WORD_LIVES | TABLE_FATES, &table),
      WN_OK);
  assert_int_equal(table.tree.group_count, 2);
  table_name(&table, &table.tree.groups[0], name, sizeof name);
  assert_string_equal(name, "root (made.up:3:5-9)");
  struct generations fates = table_fates(&table, &table.tree.groups[0], EXTENT_SELF);
  assert_int_equal(fates.promoted.bytes.samples, 1);
  table_destroy(&table);
  report_destroy(&report);
  recording_free(recording);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_collected_heap_is_known_by_its_run),
      cmocka_unit_test(the_word_is_the_traces),
      cmocka_unit_test(places_have_lines_and_columns),
      cmocka_unit_test(tables_are_made_of_it),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
