/* The columns of the text tables, of the first screen and of --all: which of them fit a width, and how their
 * cells are printed.
 *
 * TABLE_BRIEF, of the first screen, has one number for the uncertainty, the larger side of the interval.
 * TABLE_FULL has intervals and sample counts: if the terminal is too narrow for a number with its interval,
 * the number is left out. A trace with every block has neither, and more room for names.
 */
#pragma once

#include "analysis/report/columns.h"
#include "cli/report/report.h"

/* The columns of all lines, from left to right: name, layout. Behind them are those of rows alone
 * (columns.h). A new one needs a function print_NAME in report_columns.c. In tables by totals,
 * `bytes` and `other` exchange their headers, and `other` and `share` exchange their ranks. */
#define LINE_COLUMNS(COLUMN)                      \
  COLUMN(bytes, TEXT(BOTH, "bytes", 10, 11, 0))   \
  COLUMN(margin, TEXT(BRIEF, "±", 7, 0, 0))       \
  COLUMN(share, TEXT(BOTH, "share", 7, 0, 2))     \
  COLUMN(samples, TEXT(FULL, "samples", 9, 0, 7)) \
  COLUMN(other, TEXT(FULL, "total", 9, 11, 1))    \
  COLUMN(blocks, TEXT(BRIEF, "blocks", 9, 0, 0))  \
  COLUMN(trend, TEXT(BOTH, "trend", 10, 0, 6))

enum text_column {
#define LINE_COLUMN(name, ...) LINE_COLUMN_##name,
  LINE_COLUMNS(LINE_COLUMN)
#undef LINE_COLUMN
      LINE_COLUMN_COUNT,
  TEXT_COLUMN_COUNT = LINE_COLUMN_COUNT + COLUMNS
};

struct columns {
  const struct report *report;
  enum table_style style;
  enum sites_order order; /* the table is sorted by the first column: self, or total */
  bool ranges;            /* of TABLE_FULL; false: all numbers are exact */
  bool shown[TEXT_COLUMN_COUNT];
  int name; /* width of the name */
};

/* Chooses the columns of a table for the width of the terminal. Numbers are dropped only when names
 * have too little room. `trends`: each row has one. */
struct columns columns_of(const struct view *view, const struct table *table, enum table_style style,
                          bool trends);

/* Chooses the columns of the call tree, which has only totals. */
struct columns columns_of_tree(const struct view *view);

/* The header of the column of names: a function has no memory, it allocated it. */
const char *grouping_heading(enum grouping grouping);

/* Prints the headers. `calls`: the blocks are counted as calls that allocated. */
void columns_print_header(const struct columns *columns, bool calls, const char *name);

/* What a line prints. Where a member is NULL, the cells that need it are blank. */
struct line {
  const struct sums *sums;   /* the sums by which the table is sorted */
  const struct sums *whole;  /* the whole for the share of `sums` */
  const struct sums *other;  /* self if `sums` is the total; otherwise the total */
  const struct group *group; /* for its lives and fates */
  struct table *table;       /* the table of the group */
  const char *trend;         /* a word; NULL: none */
  bool mapped;               /* measured bytes of mappings, and as samples their number */
};

/* The width of the numbers, which stand before the name, and of the blanks between. */
int columns_width(const struct columns *columns);

/* Prints the numbers of a line. */
void columns_print_line(const struct columns *columns, const struct line *line);
/* SPDX-License-Identifier: MIT */
