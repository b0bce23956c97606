/* The columns of the text tables: which there are at a width, and the numbers in them.
 *
 * No number stands without its interval and the count of samples that it rests on. So columns come
 * and go in groups: a terminal too narrow for a number with its interval does not show the number.
 * Only where a trace has every block are there no intervals, and more room for names. */
#ifndef CLI_REPORT_COLUMNS_H
#define CLI_REPORT_COLUMNS_H

#include "cli/report.h"

/* The first column is what the table is sorted by: self, or total. */
struct columns {
  enum sites_order order;
  bool ranges; /* false: all is exact */
  bool share, other, life, words, dead, promoted,
      samples; /* other: total beside self, or self beside total */
  int name;    /* how wide the name may be */
};

/* For a table of this kind; `name_least` columns are left for names before numbers are given up. */
struct columns columns_of(const struct report *report, const struct table *table);

/* For the call tree, which has totals alone. */
struct columns columns_of_tree(const struct report *report);

void columns_print_header(const struct columns *columns, const char *name);

/* The sums that a row of a table or of the tree begins with. */
void columns_print_sums(const struct report *report, const struct columns *columns, const struct sums *sums,
                        const struct sums *all);

/* What stands behind them, up to the name. */
void columns_print_row(const struct report *report, const struct columns *columns, struct table *table,
                       const struct group *group);

/* In a table by totals, what the groups of no row allocated themselves: it stands under self, if
 * that is shown. */
void columns_print_rest_of_totals(const struct report *report, const struct columns *columns,
                                  const struct sums *self);

/* Blanks instead of that, in a row that has none. */
void columns_print_blank(const struct columns *columns);

/* Of the numbers before a name. */
int columns_width(const struct columns *columns);

#endif
/* SPDX-License-Identifier: MIT */
