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

/* A host's sums are divided by its windows, or its seconds (HELD in question.h). */
static void write_means(const struct question_of_fleet *question, FILE *query, const char *groups,
                        const char *condition) {
  bool held = question->kind == WINDOW_HELD;
  fprintf(
      query,
      "SELECT %s, sum(k / d) AS m0, max(w / u) AS m1, sum(b / d) AS m2, sum(v / e) AS m3, sum(s / d) AS m4, "
      "sum(c / e) AS m5, sum(x / d) AS m6, sum(r / d) AS m7, sum(b * b / (d * d)) AS m8 FROM (",
      groups);
  write_inner(question, query, groups, condition);
  fprintf(query, ") ANY INNER JOIN (SELECT release, host, %s FROM (",
          held ? "windows AS d, windows AS e, toFloat64(1) AS u"
               : "seconds_all AS d, seconds_all * seconds_all AS e, seconds_all AS u");
  query_hosts(question, query, "release, ");
  fprintf(query, ") WHERE d > 0 AND is_partial = 0) USING (release, host) GROUP BY %s", groups);
}

/* ---- shared ---- */

int releases_find(struct question_of_fleet *question, struct release **releases, size_t *count) {
  size_t capacity = *count = 0;
  FILE *query = query_begin(question);
  *releases = NULL;
  if (query) {
    fputs("SELECT release, toUInt32(min(first)) AS begin, sum(is_partial = 0), sum(is_partial != 0) FROM (",
          query);
    query_hosts(question, query, "release, ");
    fprintf(query, ") GROUP BY release ORDER BY begin, release LIMIT %d", RELEASES_MOST);
  }
  int code = query_ask(question, query, 4);
  for (size_t i = 0; !code && i < question->rows; i++) {
    struct release release = {.name = strdup(field_text(question, i, 0)),
                              .first = field_integer(question, i, 1),
                              .hosts = field_integer(question, i, 2),
                              .partial_hosts = field_integer(question, i, 3)};
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

struct host_mean mean_of(const struct question_of_fleet *question, size_t row, size_t column,
                         uint64_t hosts) {
  double unit = field_number(question, row, column + 1), number = (double)hosts;
  struct sum sum = field_sum(question, row, column + 2, (uint64_t)ceil(field_number(question, row, column)));
  struct host_mean mean = {.few = hosts < HOSTS_LEAST, .freedom = INFINITY};
  if (!hosts || row >= question->rows) return mean;
  struct estimate total = estimate_of(&sum, unit), part = {.estimate = 1 / number};
  part.low = part.high = part.estimate;
  mean.bytes = estimate_times(&total, &part);
  mean.error = (mean.bytes.high - mean.bytes.low) / (2 * NORMAL_975);
  if (mean.few) return mean;
  double squares = field_number(question, row, column + 8);
  double spread = fmax(squares - sum.total * sum.total / number, 0) / (number - 1);
  double error = sqrt(spread / number), side = student_975(number - 1) * error;
  if (error > mean.error) mean.error = error, mean.freedom = number - 1;
  mean.bytes.low = fmin(mean.bytes.low, fmax(mean.bytes.estimate - side, 0));
  mean.bytes.high = fmax(mean.bytes.high, mean.bytes.estimate + side);
  return mean;
}

double chance_of_change(const struct host_mean *before, const struct host_mean *after) {
  double one = before->error * before->error, other = after->error * after->error, all = one + other;
  if (before->few || after->few) return 1;
  double difference = fabs(after->bytes.estimate - before->bytes.estimate);
  if (all <= 0) return difference > 0 ? 0 : 1;
  double parts = one * one / before->freedom + other * other / after->freedom;
  return student_chance(difference / sqrt(all), parts > 0 ? all * all / parts : INFINITY);
}

double student_chance(double deviate, double freedom) {
  double normal = fabs(deviate);
  if (freedom < 1e9)
    normal = (8 * freedom + 1) / (8 * freedom + 3) * sqrt(freedom * log1p(deviate * deviate / freedom));
  return erfc(normal * M_SQRT1_2);
}
/* SPDX-License-Identifier: MIT */
