/* The tables' rows and their columns: from these lists come the struct of a row, what writes it, and
 * the declaration of the table.
 *
 * A column has a type of these: day (days since 1970) and time (seconds), text, kind (enum
 * window_kind), number, small, real, numbers. */
#pragma once

#include "export/windows.h"
#include <stdio.h>

/* In the order in which they are to be written: names before what they name, and last which batches are
 * complete. */
#define CLICKHOUSE_TABLE_LIST(TABLE) \
  TABLE(FRAMES, frames)              \
  TABLE(STACKS, stacks)              \
  TABLE(SITES, sites)                \
  TABLE(SAMPLES, samples)            \
  TABLE(LOADS, loads)

enum clickhouse_table {
#define CLICKHOUSE_TABLE(TABLE, table) CLICKHOUSE_##TABLE,
  CLICKHOUSE_TABLE_LIST(CLICKHOUSE_TABLE)
#undef CLICKHOUSE_TABLE
      CLICKHOUSE_TABLES
};

/* "frames", ... */
const char *clickhouse_table_name(enum clickhouse_table table);

/* Writes the columns of a table: their names with commas between them, or a line for each with its
 * type, as CREATE TABLE has them. */
void clickhouse_write_names(FILE *out, enum clickhouse_table table);
void clickhouse_write_columns(FILE *out, enum clickhouse_table table);

/* How rows are written: RowBinary or TabSeparated, as ClickHouse calls them. */
enum clickhouse_encoding { CLICKHOUSE_BINARY, CLICKHOUSE_TEXT };
const char *clickhouse_encoding_name(enum clickhouse_encoding encoding);

#define CLICKHOUSE_FRAMES_COLUMNS(COLUMN) \
  COLUMN(number, frame)                   \
  COLUMN(day, seen)                       \
  COLUMN(text, build)                     \
  COLUMN(number, address)                 \
  COLUMN(text, function)                  \
  COLUMN(text, file)                      \
  COLUMN(small, line)

#define CLICKHOUSE_STACKS_COLUMNS(COLUMN) \
  COLUMN(number, stack)                   \
  COLUMN(day, seen)                       \
  COLUMN(numbers, frames)

#define CLICKHOUSE_SITES_COLUMNS(COLUMN) \
  COLUMN(number, site)                   \
  COLUMN(day, seen)                      \
  COLUMN(text, name)                     \
  COLUMN(text, module)

/* WINDOW_KINDS */
#define CLICKHOUSE_KINDS "Enum8('held' = 1, 'born' = 2, 'died' = 3, 'left' = 4)"

/* SUMS: the members of struct sum. `excess` is `typical` less `total`, which is 0 but for blocks
 * that grow. */
#define CLICKHOUSE_SUM_COLUMNS(COLUMN, what) \
  COLUMN(real, what)                         \
  COLUMN(real, what##_variance)              \
  COLUMN(real, what##_seen)                  \
  COLUMN(real, what##_clustered)             \
  COLUMN(real, what##_excess)                \
  COLUMN(real, what##_earlier)

/* Of a batch: the first ones of its rows in both tables. */
#define CLICKHOUSE_BATCH_COLUMNS(COLUMN) \
  COLUMN(day, day)                       \
  COLUMN(time, time)                     \
  COLUMN(text, service)                  \
  COLUMN(text, release)                  \
  COLUMN(text, host)                     \
  COLUMN(number, run)                    \
  COLUMN(number, batch)

#define CLICKHOUSE_SAMPLES_COLUMNS(COLUMN) \
  CLICKHOUSE_BATCH_COLUMNS(COLUMN)         \
  COLUMN(kind, kind)                       \
  COLUMN(number, site)                     \
  COLUMN(number, stack)                    \
  COLUMN(small, n)                         \
  COLUMN(real, unit)                       \
  CLICKHOUSE_SUM_COLUMNS(COLUMN, bytes)    \
  CLICKHOUSE_SUM_COLUMNS(COLUMN, blocks)

#define CLICKHOUSE_LOADS_COLUMNS(COLUMN) \
  CLICKHOUSE_BATCH_COLUMNS(COLUMN)       \
  COLUMN(number, rows)                   \
  COLUMN(real, seconds)                  \
  COLUMN(real, rate)                     \
  COLUMN(small, partial)                 \
  COLUMN(text, version)

struct clickhouse_numbers {
  const uint64_t *items;
  size_t count;
};

typedef uint16_t clickhouse_day;
typedef uint32_t clickhouse_time, clickhouse_small;
typedef const char *clickhouse_text; /* any bytes; those that a terminal obeys become '?' */
typedef enum window_kind clickhouse_kind;
typedef uint64_t clickhouse_number;
typedef double clickhouse_real;
typedef struct clickhouse_numbers clickhouse_numbers;

#define CLICKHOUSE_MEMBER(type, name) clickhouse_##type name;
#define CLICKHOUSE_ROW(TABLE, table)                               \
  struct clickhouse_##table##_row {                                \
    CLICKHOUSE_##TABLE##_COLUMNS(CLICKHOUSE_MEMBER)                \
  };                                                               \
  void clickhouse_put_##table(FILE *out, enum clickhouse_encoding, \
                              const struct clickhouse_##table##_row *row);
CLICKHOUSE_TABLE_LIST(CLICKHOUSE_ROW)
#undef CLICKHOUSE_ROW
#undef CLICKHOUSE_MEMBER
/* SPDX-License-Identifier: MIT */
