/* The rows of one table as a JSON object: the trace, the totals, the question, and the rows as
 * `winnow report --json` has them (docs/report-json.md), but all of them. */
#include "export/report_json.h"
#include "export/rows_chosen.h"

wn_status export_json(FILE *out, const struct export *export) {
  struct json json = {.out = out};
  const struct report *report = export->report;
  struct rows_chosen rows;
  struct facts facts;
  wn_status error = facts_find(report, &facts);
  if (!error) error = rows_choose(export, &rows);
  if (error) return error;
  json_begin(&json, NULL, '{');
  json_integer(&json, "schema", 1);
  json_trace(&json, "trace", report->samples);
  json_totals(&json, &facts);
  json_wrappers(&json, report->recording);
  json_string(&json, "at", export->at);
  json_integer(&json, "at_ns", report->asked.time_ns);
  if (export->where) json_string(&json, "where", export->where);
  json_string(&json, "quantity", quantity_kinds[export->quantity].word);
  json_string(&json, "by", grouping_name(export->grouping));
  json_string(&json, "sort", sites_order_name(export->order));
  json_begin(&json, "rows", '[');
  for (size_t i = 0; i < rows.sites.count; i++)
    json_row(&json, &rows.table, rows.sites.shown[i].group, rows.extent);
  json_end(&json, ']');
  json_rest(&json, "rest", report, &rows.sites);
  json_end(&json, '}');
  rows_chosen_destroy(&rows);
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
