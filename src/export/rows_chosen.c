/* Makes the table of an export. It has the columns that the same table of `winnow report --json`
 * has. */
#include "export/rows_chosen.h"

#include "export/report_json.h"

wn_status rows_choose(const struct export *export, struct rows_chosen *rows) {
  enum measure measure = quantity_kinds[export->quantity].measure;
  struct sites_options all = {.order = export->order, .most = export->top, .every = true};
  *rows = (struct rows_chosen){.extent = sites_extent(export->order)};
  wn_status error = report_table(export->report, measure, export->grouping,
                                 json_details(export->report, measure), &rows->table);
  if (error) return error;
  error = sites_choose(&rows->table.tree, &all, &rows->sites);
  if (error) table_destroy(&rows->table);
  return error;
}

void rows_chosen_destroy(struct rows_chosen *rows) {
  sites_destroy(&rows->sites);
  table_destroy(&rows->table);
}
/* SPDX-License-Identifier: MIT */
