/* The hosts that have more or less than what is usual (USUAL in analysis/report/hosts.h). */
#include "base/array.h"
#include "cli/command.h"
#include "cli/fleet/answers.h"
#include "cli/fleet/means.h"
#include "cli/text.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { HOST, SAMPLES, UNIT, BYTES, MORE = BYTES + SUM_COLUMNS, MOST, COLUMN_COUNT };
enum { CELLS = 4, JSON_CELLS, /* with a number for what stands beside the host */ HOSTS_MOST = 200000 };

struct fleet_of_hosts {
  struct question_of_fleet *question;
  struct host *hosts;
  size_t count, capacity, unusual; /* the first ones are unusual */
  double median;
};

/* Each host and what its sums are divided by: its seconds for what was allocated, since hosts may have
 * shipped for different times. */
static void hosts_write_units(const struct question_of_fleet *question, FILE *query) {
  fprintf(query, "SELECT host, toFloat64(%s) AS u FROM (",
          question->kind == WINDOW_HELD ? "1" : "greatest(seconds_all, 1)");
  query_hosts(question, query, "");
  fputc(')', query);
}

/* Each site of a host, with these sums and `u`. */
static void hosts_write_sites(const struct question_of_fleet *question, FILE *query, const char *sums,
                              const char *names) {
  bool held = question->kind == WINDOW_HELD;
  fprintf(query, "SELECT host, site, %s, %s FROM (SELECT host, site, %s FROM samples_all", names,
          held ? "toFloat64(1) AS u" : "u", sums);
  query_where(question, query, CLICKHOUSE_SAMPLES);
  query_held_now(question, query);
  fputs(" GROUP BY host, site)", query);
  if (held) return;
  fputs(" ANY INNER JOIN (", query);
  hosts_write_units(question, query);
  fputs(") USING host", query);
}

/* For each host its sum, and the site that it has the most above the mean of all hosts. */
static void hosts_write_query(const struct question_of_fleet *question, FILE *query, uint64_t hosts) {
  fputs("SELECT host, k, w / u, b / u, v / (u * u), s / u, c / (u * u), x / u, r / u, more, most FROM (",
        query);
  hosts_write_units(question, query);
  fputs(") ANY LEFT JOIN (SELECT host, sum(ik) AS k, max(iw) AS w, sum(ib) AS b, sum(iv) AS v, sum(is) AS s, "
        "sum(ic) AS c, sum(ix) AS x, sum(ir) AS r, argMax(site, ib / u - m) AS more, max(ib / u - m) AS most "
        "FROM (",
        query);
  hosts_write_sites(question, query,
                    "sum(n) AS ik, max(unit) AS iw, sum(bytes) AS ib, sum(bytes_variance) AS iv, "
                    "sum(bytes_seen) AS is, sum(bytes_clustered) AS ic, sum(bytes_excess) AS ix, "
                    "sum(bytes_earlier) AS ir",
                    "ik, iw, ib, iv, is, ic, ix, ir");
  fprintf(query, ") ANY INNER JOIN (SELECT site, sum(ib / u) / %" PRIu64 " AS m FROM (", hosts);
  hosts_write_sites(question, query, "sum(bytes) AS ib", "ib");
  fprintf(query, ") GROUP BY site) USING site GROUP BY host) USING host ORDER BY host LIMIT %d", HOSTS_MOST);
}

/* ---- sites ---- */

static const char *hosts_site_of(const struct fleet_of_hosts *fleet, const struct host *host) {
  return field_text(fleet->question, host->number, MORE);
}

/* Asks for the names of the sites of so many hosts: rows of a site and its name. */
static int ask_names(const struct fleet_of_hosts *fleet, size_t shown, struct question_of_fleet *names) {
  *names = *fleet->question;
  names->text = NULL;
  names->fields = NULL;
  FILE *query = query_begin(names);
  if (query) {
    fputs("SELECT site, any(name) FROM sites_all WHERE site IN (0", query);
    for (size_t i = 0; i < shown; i++) fprintf(query, ",%s", hosts_site_of(fleet, &fleet->hosts[i]));
    fputs(") GROUP BY site", query);
  }
  return query_ask(names, query, 2);
}

static const char *hosts_name_of(const struct question_of_fleet *names, const char *site) {
  for (size_t i = 0; i < names->rows; i++)
    if (!strcmp(field_text(names, i, 0), site)) return field_text(names, i, 1);
  return "";
}

/* ---- the answer ---- */

/* The site that a host has the most above the mean stands beside the host, unless the host has less than
 * is usual. Returns the number of cells. */
static size_t hosts_set_cells(const struct fleet_of_hosts *fleet, const struct question_of_fleet *names,
                              size_t i, struct fleet_cell cells[JSON_CELLS], char beside[512]) {
  const struct host *host = &fleet->hosts[i];
  char number[40], most[40];
  const char *site =
      site_name(hosts_name_of(names, hosts_site_of(fleet, host)), hosts_site_of(fleet, host), number);
  double above = field_number(fleet->question, host->number, MOST);
  bool json = fleet->question->options->json;
  if (json)
    snprintf(beside, 512, "%s", site);
  else
    snprintf(beside, 512, "most of all %s by %.400s", text_change(most, above), site);
  struct estimate away = host->bytes;
  away.estimate -= fleet->median, away.low -= fleet->median, away.high -= fleet->median;
  struct fleet_cell set[JSON_CELLS] = {
      {.kind = FLEET_BYTES, .name = "bytes", .estimate = host->bytes},
      {.kind = FLEET_SHARE,
       .name = "of usual",
       .number = fleet->median > 0 ? host->bytes.estimate / fleet->median : 0},
      {.kind = FLEET_CHANGE, .name = "more", .estimate = away},
      {.kind = FLEET_NAME,
       .name = "host",
       .text = field_text(fleet->question, host->number, HOST),
       .beside = host->distance > 0 ? beside : NULL,
       .beside_name = "mostly"},
      {.kind = FLEET_BLOCKS, .name = "mostly bytes", .number = above}};
  memcpy(cells, set, sizeof set);
  return json && host->distance > 0 ? JSON_CELLS : CELLS;
}

static void hosts_tell(const struct fleet_of_hosts *fleet, const struct question_of_fleet *names,
                       size_t shown, struct json *json) {
  for (size_t i = 0; i < shown; i++) {
    struct fleet_cell cells[JSON_CELLS];
    char beside[512];
    size_t count = hosts_set_cells(fleet, names, i, cells, beside);
    if (!i && !json) fleet_print_head(cells, CELLS);
    if (json)
      fleet_write_row(json, cells, count);
    else
      fleet_print_row(cells, CELLS, false);
  }
}

static void hosts_print(const struct fleet_of_hosts *fleet, const struct question_of_fleet *names,
                        size_t shown, const struct fleet_scope *scope) {
  char number[64], median[32];
  scope_print(fleet->question, scope,
              fleet->question->kind == WINDOW_HELD ? "held now" : "allocated in a second", true);
  printf("  the median host: %s\n\n", text_bytes(median, fleet->median));
  if (fleet->count < HOSTS_LEAST) {
    printf("  fewer than %d hosts: nothing is usual\n", HOSTS_LEAST);
    return;
  }
  hosts_tell(fleet, names, shown, NULL);
  text_style(stdout, STYLE_DIM);
  if (shown < fleet->unusual)
    printf("  %s (--top %zu)\n", text_number_of(number, (double)(fleet->unusual - shown), "more host"),
           fleet->unusual);
  if (fleet->median <= 0)
    printf("  %s, of which half or more have nothing: none is called unusual\n",
           text_number_of(number, (double)fleet->count, "host"));
  else
    printf("  %s as is usual\n", text_number_of(number, (double)(fleet->count - fleet->unusual), "host"));
  text_style(stdout, STYLE_PLAIN);
}

static void hosts_write_json(const struct fleet_of_hosts *fleet, const struct question_of_fleet *names,
                             size_t shown, const struct fleet_scope *scope) {
  struct json json = {.out = stdout};
  scope_write(fleet->question, scope, "hosts", &json);
  json_number(&json, "median_bytes", fleet->median);
  json_integer(&json, "unusual", fleet->unusual);
  json_begin(&json, "rows", '[');
  hosts_tell(fleet, names, shown, &json);
  json_end(&json, ']');
  json_end(&json, '}');
}

static bool add_hosts(struct fleet_of_hosts *fleet) {
  const struct question_of_fleet *question = fleet->question;
  for (size_t i = 0; i < question->rows; i++) {
    struct sum sum = field_sum(question, i, BYTES, field_integer(question, i, SAMPLES));
    struct host host = {.number = i, .bytes = estimate_of(&sum, field_number(question, i, UNIT))};
    if (!ARRAY_ADD(fleet->hosts, fleet->count, fleet->capacity, host)) return false;
  }
  return hosts_find_unusual(fleet->hosts, fleet->count, &fleet->median, &fleet->unusual);
}

/* ---- shared ---- */

int fleet_hosts(struct question_of_fleet *question) {
  struct fleet_of_hosts fleet = {.question = question};
  struct question_of_fleet names = {.text = NULL};
  struct fleet_scope scope;
  question->now = question->kind == WINDOW_HELD;
  int code = scope_find(question, &scope);
  FILE *query = code ? NULL : query_begin(question);
  if (query) hosts_write_query(question, query, scope.hosts ? scope.hosts : 1);
  if (!code) code = query_ask(question, query, COLUMN_COUNT);
  if (!code && !add_hosts(&fleet)) code = fail_job("not enough memory");
  size_t shown = rows_wanted(question, fleet.unusual);
  if (!code) code = ask_names(&fleet, shown, &names);
  if (!code && question->options->json)
    hosts_write_json(&fleet, &names, shown, &scope);
  else if (!code)
    hosts_print(&fleet, &names, shown, &scope);
  question_forget(&names);
  free(fleet.hosts);
  return code;
}
/* SPDX-License-Identifier: MIT */
