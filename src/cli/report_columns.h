/* The columns of the text tables: which there are at a width, and the numbers in them.
 *
 * No number stands without its interval and the count of samples that it rests on. So a terminal
 * too narrow for a number with its interval does not show the number. Only where a trace has every
 * block are there no intervals, and more room for names. */
#ifndef CLI_REPORT_COLUMNS_H
#define CLI_REPORT_COLUMNS_H

#include "cli/report.h"

/* From left to right. A row: the name, the header, its width, the header of its interval ("": it
 * has none) and the width of that, and which columns a narrow terminal drops first (1; 0: never). A
 * new column is a row here, and two functions in report_columns.c: has_NAME tells which tables have
 * it, print_NAME prints a cell. In tables by totals the headers of `bytes` and `other` change
 * places, and so do the ranks of `other` and `share`. */
#define TEXT_COLUMNS(COLUMN)                           \
  COLUMN(bytes, "self", 9, "95 % range", 11, 0)        \
  COLUMN(share, "share", 7, "range", 8, 2)             \
  COLUMN(samples, "samples", 9, "", 0, 7)              \
  COLUMN(other, "total", 9, "95 % range", 11, 1)       \
  COLUMN(other_samples, "samples", 9, "", 0, 1)        \
  COLUMN(life, "median life", 12, "95 % range", 17, 3) \
  COLUMN(promoted, "promoted", 10, "range", 8, 6)      \
  COLUMN(dead, "dead next", 10, "range", 8, 5)         \
  COLUMN(word_life, "median life", 12, "95 % range", 11, 4)

enum text_column {
#define TEXT_COLUMN(name, ...) TEXT_COLUMN_##name,
  TEXT_COLUMNS(TEXT_COLUMN)
#undef TEXT_COLUMN
      TEXT_COLUMN_COUNT
};

struct columns {
  const struct report *report;
  enum sites_order order; /* the first column is what the table is sorted by: self, or total */
  bool ranges;            /* false: all is exact */
  bool shown[TEXT_COLUMN_COUNT];
  int name; /* how wide the name may be */
};

/* Of a table; columns are left for names before numbers are given up. */
struct columns columns_of(const struct view *view, const struct table *table);

/* For the call tree, which has totals alone. */
struct columns columns_of_tree(const struct view *view);

void columns_print_header(const struct columns *columns, const char *name);

/* What a line tells; NULL: the cells of that are blank. */
struct line {
  const struct sums *sums;   /* what the table is sorted by */
  const struct sums *whole;  /* of which they are a share */
  const struct sums *other;  /* self beside total, or total beside self */
  const struct group *group; /* whose lives and fates */
  struct table *table;       /* the group's */
};

/* The numbers before a name. */
void columns_print_line(const struct columns *columns, const struct line *line);

#endif
/* SPDX-License-Identifier: MIT */
