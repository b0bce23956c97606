/* The rows of a table as cells. Every export of rows uses this one list of columns. */
#ifndef EXPORT_ROWS_H
#define EXPORT_ROWS_H

#include "analysis/report/report.h"

enum cell_kind {
  CELL_TEXT,
  CELL_INTEGER,  /* a number, or not known */
  CELL_ESTIMATE, /* a number with its interval and samples */
  CELL_LIFE_NS,  /* a median with its interval and samples */
  CELL_LIFE_WORDS,
  CELL_AGES, /* AGE_CLASSES numbers */
  CELL_STACK /* the functions of a stack, innermost first */
};

/* A column: its name, the kind of its cells, the detail that the table must have (enum
 * table_detail), and its meaning. A new column is a line here and a function `read_NAME` in rows.c.
 */
#define ROW_COLUMNS(COLUMN)                                                                                \
  COLUMN(name, TEXT, 0, "the group: a function, line, file or module; for a stack its innermost function") \
  COLUMN(module, TEXT, 0, "the name of the file that has the code")                                        \
  COLUMN(file, TEXT, 0, "the source file; empty: unknown")                                                 \
  COLUMN(line, INTEGER, 0, "the source line; 0: unknown")                                                  \
  COLUMN(self_bytes, ESTIMATE, 0, "bytes by the group itself")                                             \
  COLUMN(self_blocks, ESTIMATE, 0, "blocks, or calls, by the group itself")                                \
  COLUMN(total_bytes, ESTIMATE, 0, "bytes by the group and all that it calls")                             \
  COLUMN(blocks, ESTIMATE, 0, "blocks, or calls, by the group and all that it calls")                      \
  COLUMN(share, ESTIMATE, 0, "total_bytes as a share of the table's bytes, 0 to 1")                        \
  COLUMN(life_median_ns, INTEGER, TABLE_LIVES, "the median of life, if it is known")                       \
  COLUMN(life, LIFE_NS, TABLE_LIVES, "how long the blocks lived, in nanoseconds")                          \
  COLUMN(minor_share, ESTIMATE, TABLE_FATES, "of the bytes: born in the minor heap")                       \
  COLUMN(major_share, ESTIMATE, TABLE_FATES, "of the bytes: born in the major heap")                       \
  COLUMN(promoted_share, ESTIMATE, TABLE_FATES, "of those born in the minor heap: promoted")               \
  COLUMN(dead_next_share, ESTIMATE, TABLE_FATES, "of those promoted: found dead by the next cycle")        \
  COLUMN(life_words, LIFE_WORDS, TABLE_WORD_LIVES, "how long they lived, in words allocated meanwhile")    \
  COLUMN(growth, TEXT, TABLE_GROWTH, "how what is alive at the end came to be")                            \
  COLUMN(growth_per_second, ESTIMATE, TABLE_GROWTH, "the slope of the bytes over the age classes")         \
  COLUMN(alive_by_age, AGES, TABLE_GROWTH, "bytes alive at the end by the time they came")                 \
  COLUMN(stack, STACK, 0, "in tables by stack: all functions, innermost first")                            \
  COLUMN(first_column, INTEGER, 0, "in tables by line: the place's first column, from 1 on; 0: unknown")   \
  COLUMN(last_column, INTEGER, 0, "its last column; 0: unknown")

enum row_column {
#define ROW_COLUMN(name, kind, detail, what) COLUMN_##name,
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

/* Whether the rows of a table have a column. */
bool row_column_in(const struct table *table, enum row_column column);

/* Reads a cell. False: the table does not have that column. */
bool row_read(const struct table_row *row, enum row_column column, struct cell *cell);

#endif
/* SPDX-License-Identifier: MIT */
