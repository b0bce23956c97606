/* A question to a fleet: what it is about, and the parts of its queries that all questions share.
 *
 * HELD. What is held is not a sum over time. A question about now counts of each process its last
 * window, if that is one of the last FRESH_SECONDS before the newest window of the range. One about a
 * stretch of time counts the mean of a host's windows there. What was allocated in a stretch of time
 * is counted for each second of it; seconds of several processes at one time are counted once.
 *
 * A mean of windows that largely have the same blocks is at least as precise as one of them: its
 * variance is taken to be the mean of theirs. */
#pragma once

#include "analysis/load/estimate.h"
#include "cli/fleet/http.h"
#include "cli/options.h"
#include "export/clickhouse_columns.h"

enum { FRESH_SECONDS = 900 };

struct question_of_fleet {
  const struct report_options *options;
  struct http *http;
  enum window_kind kind;
  uint64_t since, until; /* seconds since 1970: windows that begin from `since` to before `until` */
  uint64_t newest;       /* the last window there is of them; 0: none */
  bool now;              /* of them only the last windows of each process count (HELD) */
  char *text;            /* the query; then the answer, cut into fields */
  size_t size;           /* of the query */
  char **fields;
  size_t columns, rows;
};

/* Asks the query that was written to a stream by query_begin, whose answer has so many columns. Closes the
 * stream. Returns an exit code, after a message. */
int query_ask(struct question_of_fleet *question, FILE *query, size_t columns);
FILE *query_begin(struct question_of_fleet *question);
void question_forget(struct question_of_fleet *question);

/* Empty, and 0, where the answer has no such row. */
static inline const char *field_text(const struct question_of_fleet *question, size_t row, size_t column) {
  return row < question->rows ? question->fields[row * question->columns + column] : "";
}
double field_number(const struct question_of_fleet *question, size_t row, size_t column);
uint64_t field_integer(const struct question_of_fleet *question, size_t row, size_t column);

/* The sum that query_sums wrote, from a column on; and how many columns it has. */
enum { SUM_COLUMNS = 6 };
struct sum field_sum(const struct question_of_fleet *question, size_t row, size_t column, uint64_t samples);

/* Write parts of a query.
 *
 *   query_where     "WHERE ..." about the range and the service, and but for `loads` the kind. Of
 *                   samples these stand in PREWHERE: the server reads other columns only where
 *                   they are met, and by itself it moves no condition on the table's key there
 *   query_held_now  " AND ..." that selects the last windows (HELD)
 *   query_sums      the sums of bytes, or of blocks, which are called by a letter and a number
 *   query_numbered  so many of these names, each with a comma behind it
 *   query_names     ") ANY LEFT JOIN ...": behind "SELECT ..., called, inside FROM (" and what has a
 *                   `site`: the name of the site, and its module */
void query_where(const struct question_of_fleet *question, FILE *query, enum clickhouse_table table);
void query_held_now(const struct question_of_fleet *question, FILE *query);
void query_sums(FILE *query, const char *what, char letter);
void query_numbered(FILE *query, char letter, int count);
void query_names(FILE *query);

/* query_hosts: a table with the columns of `by` (each with a comma behind it) and `host`; of each the
 * first time, the number of windows, the seconds of these (those of processes at one time once), and
 * whether it is partial. */
void query_hosts(const struct question_of_fleet *question, FILE *query, const char *by);
/* SPDX-License-Identifier: MIT */
