/* The columns of tables, once: the text, JSON, CSV and other exports of rows print the cells of
 * this list.
 *
 * Only the text has columns besides these (cli/report/report_columns.h): those of lines that are no
 * rows of a table, such as the sum of the rows that are not shown. The page does not use this list:
 * it reads whole tables at a time (page/view_table.c), since to find the lives of all rows takes
 * one pass over the samples, and a cell takes one for itself. */
#pragma once

#include "analysis/report/report.h"

/* What a cell has, and its unit. */
enum cell_kind {
  CELL_TEXT,
  CELL_INTEGER,    /* a number, or not known */
  CELL_BYTES,      /* this and the next: an estimate with its interval and samples */
  CELL_BLOCKS,     /* or calls */
  CELL_SHARE,      /* 0 to 1 */
  CELL_RATE,       /* bytes a second */
  CELL_LIFE_NS,    /* a median with its interval and samples */
  CELL_LIFE_WORDS, /* the same in words */
  CELL_AGES,       /* AGE_CLASSES numbers */
  CELL_STACK       /* the functions of a stack, innermost first */
};

/* The tables of text: of the first screen, of --all. */
enum table_style { TABLE_BRIEF = 1, TABLE_FULL = 2, TABLE_BOTH = 3 };

/* How text shows a column: in which tables, the heading, the width of the number, that of its
 * interval in TABLE_FULL (0: it has none), and the rank. A narrow terminal drops the columns of
 * rank 1 first, then rank 2 and so on; rank 0 is never dropped. Text has no cells of the kinds
 * INTEGER, RATE, AGES and STACK: print_cell of cli/report/report_columns.c. */
struct text_layout {
  enum table_style styles; /* 0: text does not show it */
  const char *heading;
  int width, range, rank;
};
#define TEXT(styles, heading, width, range, rank) \
  { TABLE_##styles, heading, width, range, rank }
#define NO_TEXT \
  { 0 }

/* A column: its name, the kind of its cells, the detail that the table must have (enum
 * table_detail), how text shows it, and its meaning. A new column is a line here and a function
 * `read_NAME` in columns.c. */
#define ROW_COLUMNS(COLUMN)                                                                             \
  COLUMN(name, TEXT, 0, NO_TEXT,                                                                        \
         "the group: a function, line, file or module; for a stack its innermost function")             \
  COLUMN(module, TEXT, 0, NO_TEXT, "the name of the file that has the code")                            \
  COLUMN(file, TEXT, 0, NO_TEXT, "the source file; empty: unknown")                                     \
  COLUMN(line, INTEGER, 0, NO_TEXT, "the source line; of a function, its largest; 0: unknown")          \
  COLUMN(self_bytes, BYTES, 0, NO_TEXT, "bytes by the group itself")                                    \
  COLUMN(self_blocks, BLOCKS, 0, NO_TEXT, "blocks, or calls, by the group itself")                      \
  COLUMN(total_bytes, BYTES, 0, NO_TEXT, "bytes by the group and all that it calls")                    \
  COLUMN(blocks, BLOCKS, 0, NO_TEXT, "blocks, or calls, by the group and all that it calls")            \
  COLUMN(share, SHARE, 0, NO_TEXT, "total_bytes as a share of the table's bytes, 0 to 1")               \
  COLUMN(minor_share, SHARE, TABLE_FATES, NO_TEXT, "of the bytes: born in the minor heap")              \
  COLUMN(major_share, SHARE, TABLE_FATES, NO_TEXT, "of the bytes: born in the major heap")              \
  COLUMN(promoted_share, SHARE, TABLE_FATES, TEXT(BOTH, "promoted", 9, 8, 6),                           \
         "of those born in the minor heap: promoted")                                                   \
  COLUMN(dead_next_share, SHARE, TABLE_FATES, TEXT(FULL, "dead next", 10, 8, 5),                        \
         "of those promoted: found dead by the next cycle")                                             \
  COLUMN(life_median_ns, INTEGER, TABLE_LIVES, NO_TEXT, "the median of life, if it is known")           \
  COLUMN(life, LIFE_NS, TABLE_LIVES, TEXT(BOTH, "med. life", 10, 17, 3),                                \
         "how long the blocks lived, in nanoseconds")                                                   \
  COLUMN(life_words, LIFE_WORDS, TABLE_WORD_LIVES, TEXT(FULL, "med. life", 10, 11, 4),                  \
         "how long they lived, in words allocated meanwhile")                                           \
  COLUMN(growth, TEXT, TABLE_GROWTH, NO_TEXT, "how what is alive at the end came to be")                \
  COLUMN(growth_per_second, RATE, TABLE_GROWTH, NO_TEXT, "the slope of the bytes over the age classes") \
  COLUMN(alive_by_age, AGES, TABLE_GROWTH, NO_TEXT, "bytes alive at the end by the time they came")     \
  COLUMN(stack, STACK, 0, NO_TEXT, "in tables by stack: all functions, innermost first")                \
  COLUMN(first_column, INTEGER, 0, NO_TEXT,                                                             \
         "in tables by line: the place's first column, from 1 on; 0: unknown")                          \
  COLUMN(last_column, INTEGER, 0, NO_TEXT, "its last column; 0: unknown")

enum row_column {
#define ROW_COLUMN(name, ...) COLUMN_##name,
  ROW_COLUMNS(ROW_COLUMN)
#undef ROW_COLUMN
      COLUMNS
};

enum { ROW_NAME_MOST = 4096 };

struct cell {
  enum cell_kind kind;
  union {
    const char *text;
    struct {
      bool known;
      uint64_t value;
    } integer;
    struct estimate estimate;
    struct life life;
    const double *ages;
    uint32_t stack; /* a node of the table's tree */
  };
};

/* One row of a table, ready to be read. Texts in its cells are valid as long as the row is. */
struct table_row {
  struct table *table;
  const struct group *group;
  enum extent extent; /* whose lives, fates and growth are told: those of self sums, or of totals */
  char name[ROW_NAME_MOST];
  struct generations fates;
  struct life life;
  struct growth growth;
};
void row_begin(struct table_row *row, struct table *table, const struct group *group, enum extent extent);

const char *row_column_name(enum row_column column);
enum cell_kind row_column_kind(enum row_column column);
const struct text_layout *row_column_text(enum row_column column);

/* Whether the rows of a table have a column. */
bool row_column_in(const struct table *table, enum row_column column);

/* Reads a cell. False: the table does not have that column. */
bool row_read(const struct table_row *row, enum row_column column, struct cell *cell);
/* SPDX-License-Identifier: MIT */
