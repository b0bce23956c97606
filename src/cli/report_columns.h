/* The columns of the text tables: which columns fit a width, and how their cells are printed.
 *
 * No number is printed without its interval and the number of samples behind it. If the terminal is
 * too narrow for a number with its interval, the number is left out. Only the tables of a trace
 * with every block have no intervals, and more room for names.
 */
#ifndef CLI_REPORT_COLUMNS_H
#define CLI_REPORT_COLUMNS_H

#include "cli/report.h"

/* From left to right: name, header, width, header of the interval ("": it has no interval), width
 * of the interval, and rank. A narrow terminal drops the columns of rank 1 first, then rank 2 and
 * so on; rank 0 is never dropped. A new column needs a row here and two functions in
 * report_columns.c: has_NAME tells which tables have it, print_NAME prints a cell. In tables by
 * totals, `bytes` and `other` exchange their headers, and `other` and `share` exchange their ranks.
 */
#define TEXT_COLUMNS(COLUMN)                           \
  COLUMN(bytes, "self", 9, "95 % range", 11, 0)        \
  COLUMN(share, "share", 7, "range", 8, 2)             \
  COLUMN(samples, "samples", 9, "", 0, 7)              \
  COLUMN(other, "total", 9, "95 % range", 11, 1)       \
  COLUMN(other_samples, "samples", 9, "", 0, 1)        \
  COLUMN(life, "median life", 12, "95 % range", 17, 3) \
  COLUMN(promoted, "promoted", 10, "range", 8, 6)      \
  COLUMN(dead, "dead next", 10, "range", 8, 5)         \
  COLUMN(growth, "growth", 8, "", 0, 6)                \
  COLUMN(word_life, "median life", 12, "95 % range", 11, 4)

enum text_column {
#define TEXT_COLUMN(name, ...) TEXT_COLUMN_##name,
  TEXT_COLUMNS(TEXT_COLUMN)
#undef TEXT_COLUMN
      TEXT_COLUMN_COUNT
};

struct columns {
  const struct report *report;
  enum sites_order order; /* the table is sorted by the first column: self, or total */
  bool ranges;            /* false: all numbers are exact */
  bool shown[TEXT_COLUMN_COUNT];
  int name; /* width of the name */
};

/* Chooses the columns of a table for the width of the terminal. Numbers are dropped only when names
 * have too little room. */
struct columns columns_of(const struct view *view, const struct table *table);

/* Chooses the columns of the call tree, which has only totals. */
struct columns columns_of_tree(const struct view *view);

void columns_print_header(const struct columns *columns, const char *name);

/* What a line prints. Where a member is NULL, the cells that need it are blank. */
struct line {
  const struct sums *sums;   /* the sums by which the table is sorted */
  const struct sums *whole;  /* the whole for the share of `sums` */
  const struct sums *other;  /* self if `sums` is the total; otherwise the total */
  const struct group *group; /* for its lives and fates */
  struct table *table;       /* the table of the group */
};

/* Prints the numbers of a line, which stand before the name. */
void columns_print_line(const struct columns *columns, const struct line *line);

#endif
/* SPDX-License-Identifier: MIT */
