/* The columns of the text tables, of the first screen and of --all: which of them fit a width, and how their
 * cells are printed.
 *
 * TABLE_BRIEF, of the first screen, has one number for the uncertainty, the larger side of the interval.
 * TABLE_FULL has intervals and sample counts: if the terminal is too narrow for a number with its interval,
 * the number is left out. A trace with every block has neither, and more room for names.
 */
#ifndef CLI_REPORT_REPORT_COLUMNS_H
#define CLI_REPORT_REPORT_COLUMNS_H

#include "cli/report/report.h"

enum table_style { TABLE_BRIEF = 1, TABLE_FULL = 2, TABLE_BOTH = 3 };

/* From left to right: name, styles, header, width, header of the interval in TABLE_FULL ("": it has none),
 * width of the interval, and rank. A narrow terminal drops the columns of rank 1 first, then rank 2 and
 * so on; rank 0 is never dropped. A new column needs a row here and two functions in
 * report_columns.c: has_NAME tells which tables have it, print_NAME prints a cell. In tables by
 * totals, `bytes` and `other` exchange their headers, and `other` and `share` exchange their ranks.
 */
#define TEXT_COLUMNS(COLUMN)                               \
  COLUMN(bytes, BOTH, "bytes", 10, "95 % range", 11, 0)    \
  COLUMN(margin, BRIEF, "±", 7, "", 0, 0)                  \
  COLUMN(share, BOTH, "share", 7, "", 0, 2)                \
  COLUMN(samples, FULL, "samples", 9, "", 0, 7)            \
  COLUMN(other, FULL, "total", 9, "95 % range", 11, 1)     \
  COLUMN(blocks, BRIEF, "blocks", 9, "", 0, 0)             \
  COLUMN(promoted, BOTH, "promoted", 9, "range", 8, 6)     \
  COLUMN(dead, FULL, "dead next", 10, "range", 8, 5)       \
  COLUMN(trend, BOTH, "trend", 10, "", 0, 6)               \
  COLUMN(life, BOTH, "med. life", 10, "95 % range", 17, 3) \
  COLUMN(word_life, FULL, "med. life", 10, "95 % range", 11, 4)

enum text_column {
#define TEXT_COLUMN(name, ...) TEXT_COLUMN_##name,
  TEXT_COLUMNS(TEXT_COLUMN)
#undef TEXT_COLUMN
      TEXT_COLUMN_COUNT
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

#endif
/* SPDX-License-Identifier: MIT */
