/* Asks for sums over hosts and their squares. */
#include "cli/fleet/means.h"

#include "base/array.h"
#include "cli/command.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NORMAL_975 1.959964

/* The 97.5 % quantile of Student's distribution: M. Abramowitz and I. Stegun, Handbook of Mathematical
 * Functions, 26.7.5. From HOSTS_LEAST hosts on its error is below 1 %. */
static double student_975(double freedom) {
  double x = NORMAL_975, x2 = x * x;
  return x + x * (x2 + 1) / (4 * freedom) + x * ((5 * x2 + 16) * x2 + 3) / (96 * freedom * freedom) +
         x * (((3 * x2 + 19) * x2 + 17) * x2 - 15) / (384 * freedom * freedom * freedom);
}

/* By what a host's sums, variances and unit are divided (HELD): windows, or seconds. */
static void write_divisors(const struct question_of_fleet *question, FILE *query) {
  if (question->kind == WINDOW_HELD)
    fputs("toFloat64(uniqExact(time)) AS d, d AS e, toFloat64(1) AS u", query);
  else
    fputs("sum(seconds) AS d, d * d AS e, d AS u", query);
}

static void write_inner(const struct question_of_fleet *question, FILE *query, const char *groups,
                        const char *condition) {
  fprintf(query,
          "SELECT %s, host, sum(n) AS k, max(unit) AS w, sum(bytes) AS b, sum(bytes_variance) AS v, "
          "sum(bytes_seen) AS s, sum(bytes_clustered) AS c, sum(bytes_excess) AS x, sum(bytes_earlier) AS r "
          "FROM samples_all",
          groups);
  query_where(question, query, CLICKHOUSE_SAMPLES);
  fprintf(query, "%s GROUP BY %s, host", condition, groups);
}

static void write_means(const struct question_of_fleet *question, FILE *query, const char *groups,
                        const char *condition) {
  fprintf(
      query,
      "SELECT %s, sum(k / d) AS m0, max(w / u) AS m1, sum(b / d) AS m2, sum(v / e) AS m3, sum(s / d) AS m4, "
      "sum(c / e) AS m5, sum(x / d) AS m6, sum(r / d) AS m7, sum(b * b / (d * d)) AS m8 FROM (",
      groups);
  write_inner(question, query, groups, condition);
  fputs(") ANY INNER JOIN (SELECT release, host, ", query);
  write_divisors(question, query);
  fputs(" FROM loads_all", query);
  query_where(question, query, CLICKHOUSE_LOADS);
  fprintf(query, " GROUP BY release, host HAVING d > 0) USING (release, host) GROUP BY %s", groups);
}

/* ---- shared ---- */

int releases_find(struct question_of_fleet *question, struct release **releases, size_t *count) {
  size_t capacity = *count = 0;
  FILE *query = query_begin(question);
  *releases = NULL;
  if (query) {
    fputs("SELECT release, toUInt16(min(day)) AS first, uniqExact(host) FROM loads_all", query);
    query_where(question, query, CLICKHOUSE_LOADS);
    fprintf(query, " GROUP BY release ORDER BY first, release LIMIT %d", RELEASES_MOST);
  }
  int code = query_ask(question, query, 3);
  for (size_t i = 0; !code && i < question->rows; i++) {
    struct release release = {.name = strdup(field_text(question, i, 0)),
                              .first = field_integer(question, i, 1),
                              .hosts = field_integer(question, i, 2)};
    if (!release.name || !ARRAY_ADD(*releases, *count, capacity, release))
      code = fail_job("not enough memory");
  }
  return code;
}

void releases_free(struct release *releases, size_t count) {
  for (size_t i = 0; i < count; i++) free(releases[i].name);
  free(releases);
}

int means_ask(struct question_of_fleet *question, const char *groups, size_t columns, const char *condition) {
  FILE *query = query_begin(question);
  bool sites = strstr(groups, "site");
  if (query && sites) {
    fprintf(query, "SELECT %s, ", groups);
    query_numbered(query, 'm', MEAN_COLUMNS);
    fputs("called, inside FROM (", query);
  }
  if (query) write_means(question, query, groups, condition);
  if (query && sites) query_names(query);
  if (query && sites) fputs(" ORDER BY site, release", query);
  return query_ask(question, query, columns + (sites ? 2 : 0) + MEAN_COLUMNS);
}

struct estimate mean_of(const struct question_of_fleet *question, size_t row, size_t column, uint64_t hosts) {
  double unit = field_number(question, row, column + 1), number = (double)hosts;
  struct sum sum = field_sum(question, row, column + 2, (uint64_t)ceil(field_number(question, row, column)));
  struct estimate total = estimate_of(&sum, unit), part = {.estimate = 1 / number};
  part.low = part.high = part.estimate;
  struct estimate mean = estimate_times(&total, &part);
  if (hosts < HOSTS_LEAST) return mean;
  double squares = field_number(question, row, column + 8);
  double spread = fmax(squares - sum.total * sum.total / number, 0) / (number - 1);
  double side = student_975(number - 1) * sqrt(spread / number);
  mean.low = fmin(mean.low, fmax(mean.estimate - side, 0));
  mean.high = fmax(mean.high, mean.estimate + side);
  return mean;
}

double difference_deviations(const struct estimate *difference) {
  double side = difference->estimate > 0 ? difference->estimate - difference->low
                                         : difference->high - difference->estimate;
  return side > 0 ? NORMAL_975 * fabs(difference->estimate) / side : difference->estimate != 0 ? INFINITY : 0;
}

double chance_of(double deviations) { return erfc(deviations * M_SQRT1_2); }
/* SPDX-License-Identifier: MIT */
