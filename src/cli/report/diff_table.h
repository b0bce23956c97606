/* The tables of `winnow diff`: their columns, and their one printer. */
#pragma once

#include "cli/report/diff.h"
#include "cli/report/report_columns.h"

/* From left to right. */
enum diff_column { DIFF_BEFORE, DIFF_AFTER, DIFF_CHANGE, DIFF_MARGIN, DIFF_SAMPLES, DIFF_COLUMNS };

struct diff_columns {
  enum table_style style;
  bool ranges; /* of TABLE_FULL; false: all numbers are exact */
  bool shown[DIFF_COLUMNS];
  bool below; /* the name has a line of its own */
  int name;   /* its width */
};

/* The texts of a line; NULL: the cell is blank. */
struct diff_cells {
  const char *number[DIFF_COLUMNS], *range[DIFF_COLUMNS];
};

/* Chooses the columns for the width of the terminal, and prints their headers and cells, without the end of
 * the line. The change is dim unless it is sure. */
struct diff_columns diff_columns_of(const struct diff *diff, enum table_style style);
void diff_print_header(const struct diff *diff, const struct diff_columns *columns);
void diff_print_cells(const struct diff_columns *columns, const struct diff_cells *cells, bool sure);

/* The cells of an amount of bytes. */
void diff_print_bytes(const struct diff *diff, const struct diff_columns *columns, const struct change *bytes,
                      bool sure);

/* The larger side of the interval, in percent of the difference. */
const char *diff_margin(char text[16], const struct estimate *difference);

/* What is known of differences that are not sure: "within noise"; "changed or not" where records are
 * missing; "unchanged" where every block was recorded. */
const char *diff_unsure_word(const struct diff *diff);

/* Prints a table after a blank line. `said`: the last note that was printed, or empty. WN_ENOMEM. */
wn_status diff_print_table(const struct diff *diff, enum measure measure,
                           const struct compared_tables *tables, enum table_style style,
                           char said[COMPARISON_NOTE_MOST]);
/* SPDX-License-Identifier: MIT */
