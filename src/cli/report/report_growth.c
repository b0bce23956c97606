/* The sentence of the text report on functions whose blocks become more and more, or larger. The tables are
 * ordered by size, and a leak that is still small is not among their first rows. */
#include "base/error.h"
#include "cli/report/report_callers.h"
#include "cli/report/report_text.h"
#include "cli/text.h"
#include <stdlib.h>

enum { GROWING_NAMED = 3, NAME_COLUMNS = 60 };

/* The labels with the largest steady slopes, largest first; returns their number. *all: of all. */
static size_t report_growth_choose(const struct growth *growths, size_t labels, uint32_t named[GROWING_NAMED],
                                   size_t *all) {
  size_t count = 0;
  *all = 0;
  for (size_t label = 0; label < labels; label++) {
    if (growths[label].kind != GROWTH_STEADY) continue;
    size_t at = ++*all <= GROWING_NAMED ? count++ : count;
    for (; at && growths[label].rate.estimate > growths[named[at - 1]].rate.estimate; at--)
      if (at < GROWING_NAMED) named[at] = named[at - 1];
    if (at < GROWING_NAMED) named[at] = (uint32_t)label;
  }
  return count;
}

static void say_growing(struct paragraph *paragraph, const struct view *view, const struct table *table,
                        const struct growth *growths) {
  uint32_t named[GROWING_NAMED];
  size_t all, count = report_growth_choose(growths, table->tree.label_count, named, &all);
  for (size_t i = 0; i < count; i++) {
    char fitted[FITTED_MOST], bytes[32], range[64];
    const struct estimate *rate = &growths[named[i]].rate;
    say(paragraph, "%s%s by %s", i ? ", " : "Growing steadily: ",
        report_fit_label(view, &table->tree, named[i], fitted, NAME_COLUMNS, 0),
        text_bytes(bytes, rate->estimate));
    if (rate->low < rate->high) say(paragraph, " (%s)", text_range(range, rate));
    say(paragraph, " a second");
  }
  if (all > count) say(paragraph, ", and %zu more", all - count);
  if (count) say(paragraph, ".");
}

/* ---- shared ---- */

wn_status report_print_growth(const struct view *view) {
  struct table table;
  struct paragraph paragraph = {.length = 0};
  enum grouping grouping = view->options->grouping == BY_STACK ? BY_FUNCTION : view->options->grouping;
  wn_status error = report_table(view->report, MEASURE_ALIVE, grouping, TABLE_GROWTH, &table);
  if (error) return error;
  struct growth *growths = calloc(table.tree.label_count + 1, sizeof *growths);
  error = growths ? table_growths(&table, NULL, table.tree.label_count, 0, growths)
                  : error_set(WN_ENOMEM, "not enough memory for the table");
  if (!error) say_growing(&paragraph, view, &table, growths);
  if (paragraph.length) text_paragraph(stdout, paragraph.text, 0);
  free(growths);
  table_destroy(&table);
  return error;
}
/* SPDX-License-Identifier: MIT */
