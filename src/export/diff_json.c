/* Writes a comparison as JSON: both traces, what changed of their facts, and a table for each measure.
 * WN_ENOMEM leaves the object incomplete. */
#include "export/diff_json.h"

#include "analysis/compare/regression.h"
#include "analysis/report/columns.h"
#include "export/report_json.h"

static void diff_json_print_row(struct json *json, const struct comparison *comparison,
                                const struct compared *row) {
  const struct table *table = comparison_table(comparison, row);
  const struct label *label = table_line_label(table, compared_group(row));
  const struct strings *strings = table->report->names->strings;
  char name[ROW_NAME_MOST];
  table_name(table, compared_group(row), name, sizeof name);
  json_begin(json, NULL, '{');
  json_string(json, "name", name);
  json_string(json, "module", strings_text(strings, label->module));
  json_string(json, "file", strings_text(strings, label->file ? label->file : label->source));
  json_integer(json, "line", label->line);
  json_string(json, "found", !row->before ? "after" : !row->after ? "before" : "both");
  json_string(json, "fate", compared_fate(comparison, row));
  json_bool(json, "address", compared_is_address(comparison, row));
  json_bool(json, "sure", row->sure);
  json_change(json, "bytes", &row->bytes);
  json_change(json, "blocks", &row->blocks);
  json_end(json, '}');
}

static void diff_json_print_table(struct json *json, enum measure measure,
                                  const struct comparison *comparison, size_t top) {
  json_begin(json, measure_name(measure), '{');
  json_change(json, "bytes", &comparison->bytes);
  json_change(json, "blocks", &comparison->blocks);
  json_bool(json, "sure", comparison->sure);
  json_integer(json, "rows_count", comparison->count);
  json_integer(json, "sure_count", comparison->sure_count);
  char note[COMPARISON_NOTE_MOST];
  comparison_note(comparison, note);
  json_string(json, "note", note);
  json_begin(json, "rows", '[');
  for (size_t i = 0; i < comparison->count && i < top; i++)
    diff_json_print_row(json, comparison, &comparison->rows[i]);
  json_end(json, ']');
  json_end(json, '}');
}

static wn_status print_measure(struct json *json, enum measure measure, const struct pair *pair,
                               const struct diff_json_options *options) {
  struct compared_tables tables;
  wn_status error = pair_compare(pair, measure, options->grouping, options->extent, &tables);
  if (error) return error;
  error = table_add(&tables.before, TABLE_LINES);
  if (!error) error = table_add(&tables.after, TABLE_LINES);
  if (!error) diff_json_print_table(json, measure, &tables.comparison, options->top);
  compared_tables_destroy(&tables);
  return error;
}

/* Whether both files tell it. Of what is promoted, no run without a collected heap has any. */
static bool both_have(const struct pair *pair, enum measure measure) {
  return measure == MEASURE_PROMOTED ||
         (json_has_measure(&pair->before, measure) && json_has_measure(&pair->after, measure));
}

/* The functions that the text names. */
static wn_status print_named(struct json *json, const struct pair *pair, const struct regression *verdict,
                             const struct diff_json_options *options) {
  struct compared_tables tables;
  const struct compared *rows[REGRESSION_NAMED];
  wn_status error =
      pair_compare(pair, regression_measure(verdict), options->grouping, options->extent, &tables);
  if (error) return error;
  size_t count = regression_rows(verdict, &tables.comparison, rows);
  json_begin(json, "rows", '[');
  for (size_t i = 0; i < count; i++) diff_json_print_row(json, &tables.comparison, rows[i]);
  json_end(json, ']');
  compared_tables_destroy(&tables);
  return WN_OK;
}

static wn_status print_facts(struct json *json, const struct pair *pair,
                             const struct diff_json_options *options) {
  struct facts before, after;
  struct regression verdict;
  wn_status error = regression_find(pair, &before, &after, &verdict);
  if (error) return error;
  bool changed = verdict.kind > REGRESSION_NONE;
  json_begin(json, "verdict", '{');
  json_string(json, "kind", regression_word(verdict.kind));
  json_string(json, "title", regression_title(verdict.kind, pair_is_exact(pair)));
  json_string(json, "fact", changed ? fact_json_name(verdict.fact) : "");
  if (pair->hosts[0]) json_bool(json, "by_functions", verdict.functions);
  if (changed) error = print_named(json, pair, &verdict, options);
  json_end(json, '}');
  json_changes(json, &before, &after, &pair->scale);
  return error;
}

/* ---- shared ---- */

wn_status diff_write_json(FILE *out, const struct pair *pair, const struct diff_json_options *options) {
  struct json json = {.out = out};
  wn_status error = WN_OK;
  json_begin(&json, NULL, '{');
  json_integer(&json, "schema", 1);
  json_trace(&json, "before", pair->before.samples);
  json_trace(&json, "after", pair->after.samples);
  json_string(&json, "at", options->at);
  if (options->where) json_string(&json, "where", options->where);
  json_string(&json, "by", grouping_name(options->grouping));
  json_string(&json, "of", options->extent == EXTENT_SELF ? "self" : "total");
  json_bool(&json, "moments", pair->moments);
  if (pair->moments) json_bool(&json, "resized", pair->resized);
  if (pair->hosts[0]) {
    json_begin(&json, "hosts", '{');
    json_integer(&json, "before", pair->hosts[0]);
    json_integer(&json, "after", pair->hosts[1]);
    json_integer(&json, "before_running", pair->running[0]);
    json_integer(&json, "after_running", pair->running[1]);
    json_bool(&json, "few", pair_is_of_few_hosts(pair));
    json_end(&json, '}');
  }
  if (pair->scale.estimate > 0) json_estimate(&json, "scale", &pair->scale);
  if (!pair->moments && both_have(pair, MEASURE_CHURN)) {
    json_integer(&json, "brief_ns", pair->after.brief_ns);
    json_integer(&json, "long_ns", pair->after.long_ns);
  }
  if (!pair->moments) error = print_facts(&json, pair, options);
  for (int measure = 0; measure < MEASURES && !error; measure++)
    if (pair->moments ? measure == MEASURE_HELD : both_have(pair, (enum measure)measure))
      error = print_measure(&json, (enum measure)measure, pair, options);
  json_end(&json, '}');
  return error;
}
/* SPDX-License-Identifier: MIT */
