/* Sums what was freed within a time. */
#include "analysis/report/freed.h"

static const double FREES_LEAST = 3, AT_EXIT = 0.95;

static bool is_freed(const struct row *row) { return row->last && row->died_ns != STILL_ALIVE; }

/* ---- shared ---- */

bool freed_in_general(const struct report *report) {
  struct sum freed = {0};
  for (size_t i = 0; i < report->samples->row_count; i++) {
    const struct row *row = &report->samples->rows[i];
    bool freed_then = row->last && row->died_ns > report->since_ns && row->died_ns <= report->alive_ns;
    if (freed_then && row->probability > 0 && report_selects(row, (void *)report))
      sum_add(&freed, (double)row->size, row->probability);
  }
  return freed.total >= FREES_LEAST * report->alive.bytes.total;
}

bool freed_at_exit(const struct report *report, row_filter *selects, void *context) {
  struct sum alive = {0}, freed = {0};
  for (size_t i = 0; i < report->samples->row_count; i++) {
    const struct row *row = &report->samples->rows[i];
    if (row->probability <= 0 || !row_is_live_at(row, report->alive_ns) || !selects(row, context)) continue;
    sum_add(&alive, (double)row->size, row->probability);
    if (is_freed(row)) sum_add(&freed, (double)row->size, row->probability);
  }
  return alive.total > 0 && freed.total >= AT_EXIT * alive.total;
}
/* SPDX-License-Identifier: MIT */
