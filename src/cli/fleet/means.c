/* Asks for sums over hosts and their squares. */
#include "cli/fleet/means.h"

#include "base/array.h"
#include "cli/command.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
  double unit = field_number(question, row, column + 1);
  struct sum sum = field_sum(question, row, column + 2, (uint64_t)ceil(field_number(question, row, column)));
  struct estimate all = estimate_of(&sum, unit);
  if (!hosts || row >= question->rows)
    return (struct host_mean){.few = hosts < HOSTS_LEAST, .freedom = INFINITY};
  return hosts_mean(&all, sum.total, field_number(question, row, column + 8), hosts);
}
/* SPDX-License-Identifier: MIT */
