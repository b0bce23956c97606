/* What all answers have. */
#include "cli/fleet/answers.h"

#include "cli/text.h"
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
/* SPDX-License-Identifier: MIT */
