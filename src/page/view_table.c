/* The view `table`: all rows of a table. */
#include "base/error.h"
#include "page/labels.h"
#include "page/views.h"
#include <math.h>
#include <stdlib.h>

enum { ROWS_MOST = 200000 };

struct estimate_columns {
  size_t estimate, low, high;
};

static struct estimate_columns add_estimates(struct answer *answer, const char *estimate, const char *low,
                                             const char *high) {
  struct estimate_columns columns;
  columns.estimate = answer_numbers(answer, estimate);
  columns.low = answer_numbers(answer, low);
  columns.high = answer_numbers(answer, high);
  return columns;
}

static void view_table_write_estimate(struct answer *answer, const struct estimate_columns *columns,
                                      const struct estimate *estimate) {
  answer_number(answer, columns->estimate, estimate->estimate);
  answer_number(answer, columns->low, estimate->low);
  answer_number(answer, columns->high, estimate->high);
}

static double bound_of(uint64_t end) { return end == NO_BOUND ? NAN : (double)end; }

static void view_table_write_rows(const struct table *table, const struct life *lives, struct labels *labels,
                                  struct answer *answer) {
  const struct report *report = table->report;
  size_t label = answer_integers(answer, "label");
  struct estimate_columns self = add_estimates(answer, "self", "self_low", "self_high"),
                          total = add_estimates(answer, "total", "total_low", "total_high");
  size_t blocks_low = answer_singles(answer, "blocks_low"),
         blocks_high = answer_singles(answer, "blocks_high");
  size_t self_blocks = answer_numbers(answer, "self_blocks"), blocks = answer_numbers(answer, "blocks"),
         self_samples = answer_integers(answer, "self_samples"), samples = answer_integers(answer, "samples"),
         life = answer_numbers(answer, "life"), life_low = answer_singles(answer, "life_low"),
         life_high = answer_singles(answer, "life_high");
  for (size_t i = 0; i < table->tree.group_count && i < ROWS_MOST; i++) {
    const struct group *group = &table->tree.groups[i];
    struct estimate of_self = report_bytes(report, &group->self),
                    of_all = report_bytes(report, &group->total),
                    of_blocks = report_blocks(report, &group->total);
    if (!group->self.bytes.samples) of_self = (struct estimate){0}; /* known: it allocates nothing itself */
    answer_integer(answer, label, labels_number(labels, group->label));
    view_table_write_estimate(answer, &self, &of_self);
    view_table_write_estimate(answer, &total, &of_all);
    answer_number(answer, self_blocks, group->self.blocks.total);
    answer_number(answer, blocks, group->total.blocks.total);
    answer_single(answer, blocks_low, of_blocks.low);
    answer_single(answer, blocks_high, of_blocks.high);
    answer_integer(answer, self_samples, (uint32_t)of_self.samples);
    answer_integer(answer, samples, (uint32_t)of_all.samples);
    if (!(table->details & TABLE_LIVES)) continue;
    const struct life *median = &lives[group->label];
    answer_number(answer, life, median->known ? (double)median->median : NAN);
    answer_single(answer, life_low, bound_of(median->low));
    answer_single(answer, life_high, bound_of(median->high));
  }
}

/* What is alive has no life to tell of; so such a table tells how it grew instead. */
static void write_growth(const struct table *table, const struct growth *growths, struct answer *answer) {
  size_t rate = answer_singles(answer, "growth"), low = answer_singles(answer, "growth_low"),
         high = answer_singles(answer, "growth_high");
  size_t kind = answer_integers(answer, "growth_kind"), ages = answer_singles(answer, "ages");
  for (size_t i = 0; i < table->tree.group_count && i < ROWS_MOST; i++) {
    const struct growth *growth = &growths[table->tree.groups[i].label];
    answer_single(answer, rate, growth->rate.estimate);
    answer_single(answer, low, growth->rate.low);
    answer_single(answer, high, growth->rate.high);
    answer_integer(answer, kind, (uint32_t)growth->kind);
    for (int class = 0; class < AGE_CLASSES; class ++) answer_single(answer, ages, growth->alive[class]);
  }
  json_begin(&answer->json, "growth_kinds", '[');
  for (int i = 0; i < GROWTH_KIND_COUNT; i++)
    json_string(&answer->json, NULL, growth_text((enum growth_kind)i));
  json_end(&answer->json, ']');
}

static wn_status add_growth(const struct table *table, struct answer *answer) {
  if (!(table->details & TABLE_GROWTH)) return WN_OK;
  struct growth *growths = calloc(table->tree.label_count + 1, sizeof *growths);
  wn_status error = growths ? table_growths(table, NULL, table->tree.label_count, 0, growths)
                            : error_set(WN_ENOMEM, "not enough memory for the table");
  if (!error) write_growth(table, growths, answer);
  free(growths);
  return error;
}

static wn_status fill_lives(const struct table *table, struct life *lives) {
  return table->details & TABLE_LIVES ? lifetimes_medians(&table->lives, lives) : WN_OK;
}

/* ---- shared ---- */

wn_status view_table(struct answers *answers, const struct request *request, struct answer *answer) {
  struct table *table;
  struct labels labels = {.tree = NULL};
  bool grows = request->measure == MEASURE_ALIVE && report_has_growth(&answers->report);
  unsigned details = grows ? TABLE_GROWTH : TABLE_LIVES;
  wn_status error = views_table(answers, request->measure, request->grouping, details, &table);
  if (error) return error;
  struct life *lives = calloc(table->tree.label_count, sizeof *lives);
  error = lives ? fill_lives(table, lives) : error_set(WN_ENOMEM, "not enough memory for the table");
  if (!error) error = labels_create(&labels, &table->tree, answers->report.names);
  if (!error) {
    view_table_write_rows(table, lives, &labels, answer);
    labels_write(&labels, &answer->json);
    error = add_growth(table, answer);
  }
  labels_destroy(&labels);
  free(lives);
  return error;
}
/* SPDX-License-Identifier: MIT */
