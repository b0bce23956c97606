/* The sites that hold, or allocated, the most. */
#include "cli/fleet/answers.h"
#include "cli/text.h"
#include <string.h>

enum {
  SITE,
  SAMPLES,
  UNIT,
  HOSTS,
  BYTES,
  BLOCKS = BYTES + SUM_COLUMNS,
  NAME = BLOCKS + SUM_COLUMNS,
  MODULE,
  COLUMN_COUNT
};
enum { SITES_MOST = 20000, CELLS = 6 };

static void top_write_query(const struct question_of_fleet *question, FILE *query) {
  fputs("SELECT site, k, w, hosts, ", query);
  query_numbered(query, 'b', SUM_COLUMNS);
  query_numbered(query, 'c', SUM_COLUMNS);
  fputs("called, inside FROM (SELECT site, sum(n) AS k, max(unit) AS w, uniqExact(host) AS hosts, ", query);
  query_sums(query, "bytes", 'b');
  fputs(", ", query);
  query_sums(query, "blocks", 'c');
  fputs(" FROM samples_all", query);
  query_where(question, query, CLICKHOUSE_SAMPLES);
  query_held_now(question, query);
  fprintf(query, " GROUP BY site ORDER BY b0 DESC LIMIT %d", SITES_MOST);
  query_names(query);
  fputs(" ORDER BY b0 DESC", query);
}

static struct sum top_bytes_of(const struct question_of_fleet *question, size_t row) {
  return field_sum(question, row, BYTES, field_integer(question, row, SAMPLES));
}

/* The sum of the rows from one on, and its estimate. */
static struct estimate top_rest_of(const struct question_of_fleet *question, size_t from) {
  struct sum sum = {.samples = 0};
  double unit = 0;
  for (size_t i = from; i < question->rows; i++) {
    struct sum bytes = top_bytes_of(question, i);
    sum_merge(&sum, &bytes);
    if (field_number(question, i, UNIT) > unit) unit = field_number(question, i, UNIT);
  }
  return estimate_of(&sum, unit);
}

/* Blocks have no unit of their own here: their interval is not printed. */
static void top_set_cells(const struct question_of_fleet *question, size_t row, double whole,
                          struct fleet_cell cells[CELLS], char number[40]) {
  struct sum bytes = top_bytes_of(question, row), blocks = field_sum(question, row, BLOCKS, bytes.samples);
  struct estimate estimate = estimate_of(&bytes, field_number(question, row, UNIT));
  double hosts = field_number(question, row, HOSTS);
  struct estimate each = {.estimate = estimate.estimate / hosts,
                          .low = estimate.low / hosts,
                          .high = estimate.high / hosts,
                          .samples = estimate.samples};
  struct fleet_cell set[CELLS] = {
      {.kind = FLEET_BYTES, .name = "bytes", .estimate = estimate},
      {.kind = FLEET_SHARE, .name = "share", .number = whole > 0 ? estimate.estimate / whole : 0},
      {.kind = FLEET_COUNT, .name = "hosts", .number = hosts},
      {.kind = FLEET_BYTES, .name = "per host", .estimate = each},
      {.kind = FLEET_BLOCKS, .name = "blocks", .number = blocks.total},
      {.kind = FLEET_NAME,
       .name = "function",
       .text = site_name(field_text(question, row, NAME), field_text(question, row, SITE), number),
       .beside = field_text(question, row, MODULE)}};
  memcpy(cells, set, sizeof set);
}

static void top_print(struct question_of_fleet *question, const struct fleet_scope *scope) {
  struct estimate all = top_rest_of(question, 0);
  size_t shown = rows_wanted(question, question->rows);
  char number[40], total[32], range[64], more[64];
  struct fleet_cell cells[CELLS];
  scope_print(question, scope, question->kind == WINDOW_HELD ? "held now" : "allocated", true);
  if (!question->rows) {
    printf("\n  nothing%s\n",
           question->kind == WINDOW_HELD ? ": what has ended holds nothing (--allocated)" : "");
    return;
  }
  printf("  %s in all (%s)\n\n", text_bytes(total, all.estimate), text_range(range, &all));
  for (size_t i = 0; i < shown; i++) {
    top_set_cells(question, i, all.estimate, cells, number);
    if (!i) fleet_print_head(cells, CELLS);
    fleet_print_row(cells, CELLS, false);
  }
  if (shown == question->rows) return;
  struct estimate rest = top_rest_of(question, shown);
  text_style(stdout, STYLE_DIM);
  printf("  %s in %s (--top %zu)\n", text_bytes(total, rest.estimate),
         text_number_of(more, (double)(question->rows - shown), "more function"), question->rows);
  text_style(stdout, STYLE_PLAIN);
}

static void top_write_json(struct question_of_fleet *question, const struct fleet_scope *scope) {
  struct json json = {.out = stdout};
  struct estimate all = top_rest_of(question, 0), rest;
  size_t shown = rows_wanted(question, question->rows);
  char number[40];
  struct fleet_cell cells[CELLS];
  scope_write(question, scope, "top", &json);
  json_estimate(&json, "bytes", &all);
  json_begin(&json, "rows", '[');
  for (size_t i = 0; i < shown; i++) {
    top_set_cells(question, i, all.estimate, cells, number);
    fleet_write_row(&json, cells, CELLS);
  }
  json_end(&json, ']');
  rest = top_rest_of(question, shown);
  json_estimate(&json, "rest", &rest);
  json_end(&json, '}');
}

/* ---- shared ---- */

int fleet_top(struct question_of_fleet *question) {
  struct fleet_scope scope;
  question->now = question->kind == WINDOW_HELD;
  int code = scope_find(question, &scope);
  FILE *query = code ? NULL : query_begin(question);
  if (query) top_write_query(question, query);
  if (!code) code = query_ask(question, query, COLUMN_COUNT);
  if (code) return code;
  if (question->options->json)
    top_write_json(question, &scope);
  else
    top_print(question, &scope);
  return 0;
}
/* SPDX-License-Identifier: MIT */
