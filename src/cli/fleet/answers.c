/* What all answers have, and their tables. */
#include "cli/fleet/answers.h"

#include "cli/report/screen.h"
#include "cli/text.h"
#include <string.h>
#include <time.h>

enum { ROWS = 10 };

/* "2026-11-29 10:25" in UTC. */
static const char *time_text(char buffer[32], uint64_t seconds) {
  time_t time = (time_t)seconds;
  struct tm parts;
  strftime(buffer, 32, "%Y-%m-%d %H:%M", gmtime_r(&time, &parts));
  return buffer;
}

/* When the newest window ended, or the moment of the question, if that came before. */
static uint64_t scope_end(const struct question_of_fleet *question) {
  uint64_t end = question->newest + WINDOW_SECONDS;
  return end < question->until ? end : question->until;
}

/* ---- tables ---- */

enum { GAP = 2, NAME_LEAST = 30, MARGIN_WIDTH = 7, MEMBER_MOST = 64 };

static const struct {
  int width;
  bool margin;
} layout[] = {[FLEET_BYTES] = {10, true}, [FLEET_CHANGE] = {11, true}, [FLEET_BLOCKS] = {9, false},
              [FLEET_COUNT] = {8, false}, [FLEET_SHARE] = {7, false},  [FLEET_WORD] = {17, false}};

static int table_width_of(const struct fleet_cell *cell) {
  return layout[cell->kind].width + (layout[cell->kind].margin ? MARGIN_WIDTH : 0);
}

/* How many of the cells in front of the name are shown. */
static size_t shown_of(const struct fleet_cell *cells, size_t count) {
  int left = text_width() - GAP - NAME_LEAST;
  size_t shown = 0;
  while (shown + 1 < count && table_width_of(&cells[shown]) <= left) left -= table_width_of(&cells[shown++]);
  return shown;
}

/* The uncertainty of a change is that of its size. */
static const char *margin_of(char text[16], const struct fleet_cell *cell) {
  struct estimate size = cell->estimate;
  if (size.estimate < 0)
    size = (struct estimate){-size.estimate, -size.high, -size.low, size.samples, size.seen, size.variance};
  return screen_margin(text, &size);
}

static const char *cell_text(char buffer[64], const struct fleet_cell *cell) {
  char number[40];
  switch (cell->kind) {
  case FLEET_BYTES: text_bytes(number, cell->estimate.estimate); break;
  case FLEET_CHANGE: text_change(number, cell->estimate.estimate); break;
  case FLEET_BLOCKS: text_short_count(number, cell->number); break;
  case FLEET_COUNT: text_count(number, cell->number); break;
  case FLEET_SHARE: text_share(number, cell->number); break;
  default: return cell->text;
  }
  snprintf(buffer, 64, "%s", number);
  return buffer;
}

/* ---- shared ---- */

const char *kind_word(const struct question_of_fleet *question) {
  return question->kind == WINDOW_HELD ? "held" : "allocated";
}

size_t rows_wanted(const struct question_of_fleet *question, size_t count) {
  size_t most = question->options->top ? question->options->top : ROWS;
  return count <= most + 1 ? count : most;
}

const char *site_name(const char *name, const char *number, char buffer[40]) {
  if (*name) return name;
  snprintf(buffer, 40, "(site %s)", number);
  return buffer;
}

int scope_find(struct question_of_fleet *question, struct fleet_scope *scope) {
  FILE *query = query_begin(question);
  if (query) {
    fputs("SELECT uniqExact(host), uniqExact(run), uniqExactIf(host, partial > 0) FROM loads_all", query);
    query_where(question, query, CLICKHOUSE_LOADS);
  }
  int code = query_ask(question, query, 3);
  if (code) return code;
  *scope = (struct fleet_scope){.hosts = field_integer(question, 0, 0),
                                .processes = field_integer(question, 0, 1),
                                .partial_hosts = field_integer(question, 0, 2)};
  return 0;
}

void scope_print(const struct question_of_fleet *question, const struct fleet_scope *scope, const char *about,
                 bool now) {
  const char *service = question->options->ship.service;
  char hosts[64], processes[64], partial[64], since[32], until[32];
  text_style(stdout, STYLE_BOLD);
  text_name(stdout, service ? service : "all services");
  text_style(stdout, STYLE_PLAIN);
  printf(", %s, %s on %s\n", about, text_number_of(processes, (double)scope->processes, "process"),
         text_number_of(hosts, (double)scope->hosts, "host"));
  text_style(stdout, STYLE_DIM);
  time_text(until, scope_end(question));
  if (now && question->kind == WINDOW_HELD)
    printf("  in the last windows, until %s UTC; ± is the 95 %% range\n", until);
  else
    printf("  in windows from %s to %s UTC; ± is the 95 %% range\n", time_text(since, question->since),
           until);
  text_style(stdout, STYLE_PLAIN);
  if (!scope->partial_hosts) return;
  text_style(stdout, STYLE_WARNING);
  printf(now ? "  records of %s are missing, or it was asleep: what it has is a lower bound\n"
             : "  records of %s are missing, or it was asleep: it is left out\n",
         text_number_of(partial, (double)scope->partial_hosts, "host"));
  text_style(stdout, STYLE_PLAIN);
}

void scope_write(const struct question_of_fleet *question, const struct fleet_scope *scope,
                 const char *action, struct json *json) {
  json_begin(json, NULL, '{');
  json_string(json, "fleet", action);
  if (question->options->ship.service)
    json_string(json, "service", question->options->ship.service);
  else
    json_null(json, "service");
  json_string(json, "kind", kind_word(question));
  json_integer(json, "since", question->since);
  json_integer(json, "until", scope_end(question));
  json_integer(json, "hosts", scope->hosts);
  json_integer(json, "processes", scope->processes);
  json_integer(json, "partial_hosts", scope->partial_hosts);
}

void fleet_print_head(const struct fleet_cell *cells, size_t count) {
  text_style(stdout, STYLE_DIM);
  for (size_t i = 0; i < shown_of(cells, count); i++) {
    text_pad(stdout, cells[i].name, -layout[cells[i].kind].width);
    if (layout[cells[i].kind].margin) text_pad(stdout, "±", -MARGIN_WIDTH);
  }
  printf("%*s%s\n", GAP, "", cells[count - 1].name);
  text_style(stdout, STYLE_PLAIN);
}

void fleet_print_row(const struct fleet_cell *cells, size_t count, bool dim) {
  const struct fleet_cell *name = &cells[count - 1];
  char buffer[64], margin[16];
  int left = text_width() - GAP;
  if (dim) text_style(stdout, STYLE_DIM);
  for (size_t i = 0; i < shown_of(cells, count); i++) {
    left -= table_width_of(&cells[i]);
    text_pad(stdout, cell_text(buffer, &cells[i]), -layout[cells[i].kind].width);
    if (layout[cells[i].kind].margin) text_pad(stdout, margin_of(margin, &cells[i]), -MARGIN_WIDTH);
  }
  printf("%*s", GAP, "");
  text_plain(stdout, name->text, text_that_fits(name->text, strlen(name->text), (size_t)left));
  left -= (int)text_columns(name->text) + GAP;
  if (name->beside && *name->beside && left >= (int)text_columns(name->beside)) {
    text_style(stdout, STYLE_DIM);
    printf("%*s", GAP, "");
    text_name(stdout, name->beside);
  }
  text_style(stdout, STYLE_PLAIN);
  putchar('\n');
}

void fleet_write_row(struct json *json, const struct fleet_cell *cells, size_t count) {
  char member[MEMBER_MOST];
  json_begin(json, NULL, '{');
  for (size_t i = 0; i < count; i++) {
    snprintf(member, sizeof member, "%s", cells[i].name);
    for (char *at = member; *at; at++)
      if (*at == ' ') *at = '_';
    if (cells[i].kind <= FLEET_CHANGE)
      json_estimate(json, member, &cells[i].estimate);
    else if (cells[i].kind <= FLEET_SHARE)
      json_number(json, member, cells[i].number);
    else
      json_string(json, member, cells[i].text);
    if (cells[i].kind == FLEET_NAME && cells[i].beside)
      json_string(json, cells[i].beside_name ? cells[i].beside_name : "module", cells[i].beside);
  }
  json_end(json, '}');
}
/* SPDX-License-Identifier: MIT */
