/* Writes the shared parts of queries, asks, and reads answers. */
#include "cli/fleet/question.h"

#include "base/array.h"
#include "cli/command.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_A_DAY 86400

/* ---- answers ---- */

/* Takes the backslashes out of a field of TabSeparated. */
static void question_unescape(char *field) {
  char *to = field;
  for (const char *from = field; *from; from++) {
    if (*from == '\\' && from[1]) from++;
    *to++ = *from;
  }
  *to = 0;
}

/* False: the answer has other columns, or there is not enough memory. */
static bool question_cut(struct question_of_fleet *question, size_t columns) {
  size_t count = 0, capacity = 0;
  char *line, *rest = question->text;
  question->columns = columns;
  while ((line = strsep(&rest, "\n")) && rest) {
    size_t before = count;
    for (char *field; (field = strsep(&line, "\t"));) {
      question_unescape(field);
      if (!ARRAY_ADD(question->fields, count, capacity, field)) return false;
    }
    if (count != before + columns) return false;
    question->rows++;
  }
  return true;
}

/* ---- shared ---- */

FILE *query_begin(struct question_of_fleet *question) {
  question_forget(question);
  return open_memstream(&question->text, &question->size);
}

int query_ask(struct question_of_fleet *question, FILE *query, size_t columns) {
  const char *answer;
  if (!query || fclose(query)) return fail_job("not enough memory");
  enum http_outcome outcome = http_select(question->http, question->text, &answer);
  free(question->text);
  question->text = outcome ? NULL : strdup(answer);
  if (outcome) return fail_job("%s: %s", question->options->ship.to[0], http_complaint(question->http));
  if (!question->text) return fail_job("not enough memory");
  return question_cut(question, columns)
             ? 0
             : fail_job("%s: its answer is not one of ClickHouse", question->options->ship.to[0]);
}

void question_forget(struct question_of_fleet *question) {
  free(question->text);
  free(question->fields);
  question->text = NULL;
  question->fields = NULL;
  question->rows = question->columns = 0;
}

double field_number(const struct question_of_fleet *question, size_t row, size_t column) {
  return strtod(field_text(question, row, column), NULL);
}

uint64_t field_integer(const struct question_of_fleet *question, size_t row, size_t column) {
  return strtoull(field_text(question, row, column), NULL, 10);
}

struct sum field_sum(const struct question_of_fleet *question, size_t row, size_t column, uint64_t samples) {
  double total = field_number(question, row, column);
  return (struct sum){.total = total,
                      .variance = field_number(question, row, column + 1),
                      .seen = field_number(question, row, column + 2),
                      .clustered = field_number(question, row, column + 3),
                      .typical = total + field_number(question, row, column + 4),
                      .earlier = field_number(question, row, column + 5),
                      .samples = samples};
}

void query_where(const struct question_of_fleet *question, FILE *query, enum clickhouse_table table) {
  static const char *const kinds[] = {
      [WINDOW_HELD] = "held", [WINDOW_BORN] = "born", [WINDOW_DIED] = "died", [WINDOW_LEFT] = "left"};
  bool samples = table == CLICKHOUSE_SAMPLES;
  uint64_t since = question->since, fresh = question->newest - FRESH_SECONDS + 1;
  if (question->now && fresh > since) since = fresh;
  fprintf(query, " %s time >= toDateTime(%" PRIu64 ") AND time < toDateTime(%" PRIu64 ")",
          samples ? "PREWHERE" : "WHERE", since, question->until);
  if (samples) fprintf(query, " AND kind = '%s'", kinds[question->kind]);
  if (question->options->ship.service) {
    fputs(" AND service = ", query);
    http_write_text(query, question->options->ship.service);
  }
  fprintf(query, " %s day >= toDate(%" PRIu64 ") AND day <= toDate(%" PRIu64 ")", samples ? "WHERE" : "AND",
          since / SECONDS_A_DAY, question->until / SECONDS_A_DAY);
}

void query_held_now(const struct question_of_fleet *question, FILE *query) {
  if (!question->now) return;
  fputs(" AND (host, run, time) GLOBAL IN (SELECT host, run, max(time) FROM loads_all", query);
  query_where(question, query, CLICKHOUSE_LOADS);
  fputs(" GROUP BY host, run)", query);
}

void query_sums(FILE *query, const char *what, char letter) {
  static const char *const ends[SUM_COLUMNS] = {"",           "_variance", "_seen",
                                                "_clustered", "_excess",   "_earlier"};
  for (int i = 0; i < SUM_COLUMNS; i++)
    fprintf(query, "%ssum(%s%s) AS %c%d", i ? ", " : "", what, ends[i], letter, i);
}

void query_numbered(FILE *query, char letter, int count) {
  for (int i = 0; i < count; i++) fprintf(query, "%c%d, ", letter, i);
}

void query_hosts(const struct question_of_fleet *question, FILE *query, const char *by) {
  fprintf(
      query,
      "SELECT %shost, min(at) AS first, toFloat64(count()) AS windows, sum(most) AS seconds_all, "
      "max(part) AS is_partial FROM (SELECT %shost, time AS at, max(seconds) AS most, max(partial) AS part "
      "FROM loads_all",
      by, by);
  query_where(question, query, CLICKHOUSE_LOADS);
  fprintf(query, " GROUP BY %shost, time) GROUP BY %shost", by, by);
}

void query_names(FILE *query) {
  fputs(") ANY LEFT JOIN (SELECT site, any(name) AS called, any(module) AS inside FROM sites_all GROUP BY "
        "site) "
        "USING site",
        query);
}
/* SPDX-License-Identifier: MIT */
