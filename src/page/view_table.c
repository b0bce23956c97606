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

static void write_estimate(struct answer *answer, const struct estimate_columns *columns,
                           const struct estimate *estimate) {
  answer_number(answer, columns->estimate, estimate->estimate);
  answer_number(answer, columns->low, estimate->low);
  answer_number(answer, columns->high, estimate->high);
}

static void write_rows(const struct table *table, const struct life *lives, struct labels *labels,
                       struct answer *answer) {
  const struct report *report = table->report;
  size_t label = answer_integers(answer, "label");
  struct estimate_columns self = add_estimates(answer, "self", "self_low", "self_high"),
                          total = add_estimates(answer, "total", "total_low", "total_high");
  size_t self_blocks = answer_numbers(answer, "self_blocks"), blocks = answer_numbers(answer, "blocks"),
         self_samples = answer_integers(answer, "self_samples"), samples = answer_integers(answer, "samples"),
         life = answer_numbers(answer, "life");
  for (size_t i = 0; i < table->tree.group_count && i < ROWS_MOST; i++) {
    const struct group *group = &table->tree.groups[i];
    struct estimate of_self = report_bytes(report, &group->self),
                    of_all = report_bytes(report, &group->total);
    if (!group->self.bytes.samples) of_self = (struct estimate){0}; /* known: it allocates nothing itself */
    answer_integer(answer, label, labels_number(labels, group->label));
    write_estimate(answer, &self, &of_self);
    write_estimate(answer, &total, &of_all);
    answer_number(answer, self_blocks, group->self.blocks.total);
    answer_number(answer, blocks, group->total.blocks.total);
    answer_integer(answer, self_samples, (uint32_t)of_self.samples);
    answer_integer(answer, samples, (uint32_t)of_all.samples);
    answer_number(answer, life, lives[group->label].known ? (double)lives[group->label].median : NAN);
  }
}

/* ---- shared ---- */

wn_status view_table(struct answers *answers, const struct request *request, struct answer *answer) {
  struct table table;
  struct labels labels = {.tree = NULL};
  wn_status error = report_table(&answers->report, request->measure, request->grouping, TABLE_LIVES, &table);
  if (error) return error;
  struct life *lives = calloc(table.tree.label_count, sizeof *lives);
  error = lives ? lifetimes_medians(&table.lives, lives)
                : error_set(WN_ENOMEM, "not enough memory for the table");
  if (!error) error = labels_create(&labels, &table.tree, answers->report.names);
  if (!error) {
    write_rows(&table, lives, &labels, answer);
    labels_write(&labels, &answer->json);
  }
  labels_destroy(&labels);
  free(lives);
  table_destroy(&table);
  return error;
}
/* SPDX-License-Identifier: MIT */
