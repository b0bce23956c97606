/* The view `compare`: what each function (or line, file, module) had before and has after. */
#include "page/labels.h"
#include "page/views.h"

enum { ROWS_MOST = 20000 };

struct change_columns {
  size_t before, before_low, before_high, after, after_low, after_high, change, low, high;
};

static struct change_columns view_compare_add_columns(struct answer *answer) {
  struct change_columns columns;
  columns.before = answer_numbers(answer, "before");
  columns.before_low = answer_numbers(answer, "before_low");
  columns.before_high = answer_numbers(answer, "before_high");
  columns.after = answer_numbers(answer, "after");
  columns.after_low = answer_numbers(answer, "after_low");
  columns.after_high = answer_numbers(answer, "after_high");
  columns.change = answer_numbers(answer, "change");
  columns.low = answer_numbers(answer, "low");
  columns.high = answer_numbers(answer, "high");
  return columns;
}

static void view_compare_write_change(struct answer *answer, const struct change_columns *columns,
                                      const struct change *change) {
  answer_number(answer, columns->before, change->before.estimate);
  answer_number(answer, columns->before_low, change->before.low);
  answer_number(answer, columns->before_high, change->before.high);
  answer_number(answer, columns->after, change->after.estimate);
  answer_number(answer, columns->after_low, change->after.low);
  answer_number(answer, columns->after_high, change->after.high);
  answer_number(answer, columns->change, change->difference.estimate);
  answer_number(answer, columns->low, change->difference.low);
  answer_number(answer, columns->high, change->difference.high);
}

/* Rows and labels have the order of the comparison: row i has label i. */
static void view_compare_write_rows(const struct comparison *comparison, struct answer *answer) {
  struct change_columns columns = view_compare_add_columns(answer);
  size_t blocks = answer_numbers(answer, "blocks"), had = answer_integers(answer, "before_samples"),
         has = answer_integers(answer, "after_samples"), sure = answer_integers(answer, "sure");
  size_t count = comparison->count < ROWS_MOST ? comparison->count : ROWS_MOST;
  json_begin(&answer->json, "fates", '[');
  for (size_t i = 0; i < count; i++)
    json_string(&answer->json, NULL, compared_fate(comparison, &comparison->rows[i]));
  json_end(&answer->json, ']');
  json_begin(&answer->json, "labels", '[');
  for (size_t i = 0; i < count; i++) {
    const struct compared *row = &comparison->rows[i];
    const struct table *table = comparison_table(comparison, row);
    view_compare_write_change(answer, &columns, &row->bytes);
    answer_number(answer, blocks, row->blocks.difference.estimate);
    answer_integer(answer, had, (uint32_t)row->bytes.before.samples);
    answer_integer(answer, has, (uint32_t)row->bytes.after.samples);
    answer_integer(answer, sure, row->sure);
    label_write(&table->tree, table->report->names, row->after ? NULL : comparison->after->report->names,
                compared_group(row)->label, &answer->json);
  }
  json_end(&answer->json, ']');
}

/* ---- shared ---- */

wn_status view_compare(struct answers *answers, const struct request *request, struct answer *answer) {
  const struct pair *pair = &answers->pair;
  struct json *json = &answer->json;
  struct compared_tables tables;
  wn_status error = pair_compare(pair, request->measure, request->grouping, request->extent, &tables);
  if (error) return error;
  const struct comparison *comparison = &tables.comparison;
  char note[COMPARISON_NOTE_MOST], hosts[HOSTS_SAID_MOST], said[sizeof note + sizeof hosts];
  comparison_note(comparison, note);
  bool sums = pair_rows_are_sums(pair, request->grouping);
  snprintf(said, sizeof said, "%s%s%s", sums ? "" : pair_say_hosts(pair, hosts), !sums && *note ? " " : "",
           note);
  json_bool(json, "moments", pair->moments);
  json_bool(json, "resized", pair->resized);
  json_bool(json, "partial", pair_is_partial(pair));
  json_bool(json, "exact", pair_is_exact(pair));
  json_integer(json, "before_ns", pair->before.asked.time_ns);
  json_integer(json, "after_ns", pair->after.asked.time_ns);
  if (request->measure == MEASURE_CHURN) json_integer(json, "life_ns", pair->after.brief_ns);
  if (request->measure == MEASURE_LASTING) json_integer(json, "life_ns", pair->after.long_ns);
  json_string(json, "note", said);
  struct estimate scale = pair_scale(pair, request->measure);
  if (scale.estimate > 0 && !pair->hosts[0]) json_estimate(json, "scale", &scale);
  json_change(json, "bytes", &comparison->bytes);
  json_change(json, "blocks", &comparison->blocks);
  json_bool(json, "sure", comparison->sure);
  json_integer(json, "rows_count", comparison->count);
  json_integer(json, "sure_count", comparison->sure_count);
  view_compare_write_rows(comparison, answer);
  compared_tables_destroy(&tables);
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
