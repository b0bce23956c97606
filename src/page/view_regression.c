/* The verdict of a comparison, which a page of two runs begins with: as `winnow diff` prints it. */
#include "analysis/compare/regression.h"
#include "analysis/report/next.h"
#include "export/report_json.h"
#include "page/labels.h"
#include "page/views.h"
#include <string.h>

/* The functions that are named, each with its change, and the line of the first. */
static wn_status view_regression_write_functions(const struct regression *verdict,
                                                 const struct comparison *comparison, struct json *json) {
  const struct compared *rows[REGRESSION_NAMED];
  size_t count = regression_rows(verdict, comparison, rows);
  json_begin(json, "labels", '[');
  for (size_t i = 0; i < count; i++) {
    const struct table *table = comparison_table(comparison, rows[i]);
    label_write(&table->tree, table->report->names, rows[i]->after ? NULL : comparison->after->report->names,
                compared_group(rows[i])->label, json);
  }
  json_end(json, ']');
  json_begin(json, "changes", '[');
  for (size_t i = 0; i < count; i++) json_number(json, NULL, rows[i]->bytes.difference.estimate);
  json_end(json, ']');
  if (verdict->kind != REGRESSION_WORSE) return WN_OK;
  if (!count) {
    const char *hint = regression_hint(verdict, comparison);
    if (*hint) json_string(json, "next", hint);
    return WN_OK;
  }
  if (!rows[0]->after) return WN_OK;
  struct main_lines lines;
  char text[NEXT_MOST];
  wn_status error = table_find_lines(comparison->after, &lines);
  if (error) return error;
  next_begin(comparison->after, &lines, table_label(comparison->after, rows[0]->after), "look at ",
             ": why is this more than before?", text);
  json_string(json, "next", text);
  main_lines_destroy(&lines);
  return WN_OK;
}

static wn_status view_regression_write_change(const struct pair *pair, const struct regression *verdict,
                                              const struct facts *after, struct json *json) {
  struct compared_tables tables;
  wn_status error = pair_compare(pair, regression_measure(verdict), BY_FUNCTION, EXTENT_SELF, &tables);
  if (error) return error;
  char fact[128];
  snprintf(fact, sizeof fact, "%s%s", regression_label(after, verdict->fact), regression_by(verdict));
  json_string(json, "fact", fact);
  json_number(json, "change", verdict->change.difference.estimate);
  error = view_regression_write_functions(verdict, &tables.comparison, json);
  compared_tables_destroy(&tables);
  return error;
}

/* ---- shared ---- */

wn_status views_regression(const struct pair *pair, struct json *json) {
  char hosts[HOSTS_SAID_MOST], said[HOSTS_SAID_MOST + 1];
  struct facts before, after;
  struct regression verdict;
  wn_status error = regression_find(pair, &before, &after, &verdict);
  if (error) return error;
  const char *reason = regression_reason(&verdict, pair);
  json_begin(json, "compared", '{');
  json_string(json, "kind", regression_word(verdict.kind));
  json_string(json, "title", regression_title(verdict.kind, pair_is_exact(pair)));
  snprintf(said, sizeof said, "%s%s", *reason ? reason : pair_say_hosts(pair, hosts),
           pair->hosts[0] ? " " : "");
  json_string(json, "reason", said);                              /* the fact stands behind it */
  if (pair->hosts[0]) memset(before.fact, 0, sizeof before.fact); /* the page's numbers of after are sums */
  json_totals(json, &before);
  if (verdict.kind > REGRESSION_NONE) error = view_regression_write_change(pair, &verdict, &after, json);
  json_end(json, '}');
  return error;
}
/* SPDX-License-Identifier: MIT */
