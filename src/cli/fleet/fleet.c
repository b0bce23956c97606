/* winnow fleet: the tables of many machines' recordings, and questions to them. */
#include "cli/command.h"
#include "cli/fleet/schema.h"
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct asking {
  const char *database;
  const char *argument; /* behind the action; NULL: there is none */
};

static int init(const struct asking *asking) {
  if (asking->argument && !schema_names_cluster(asking->argument))
    return fail_usage("fleet", "%s cannot be the name of a cluster", asking->argument);
  schema_write(stdout, asking->database, asking->argument);
  return 0;
}

/* Whether a text is a day, such as 2026-11-29, and no other form of it. */
static bool is_day(const char *text) {
  struct tm parts = {.tm_mday = 0};
  char again[16];
  const char *end = strptime(text, "%Y-%m-%d", &parts);
  return end && !*end && strftime(again, sizeof again, "%Y-%m-%d", &parts) && !strcmp(text, again);
}

static int roll(const struct asking *asking) {
  time_t yesterday = time(NULL) - 86400;
  char day[16];
  struct tm parts;
  strftime(day, sizeof day, "%Y-%m-%d", gmtime_r(&yesterday, &parts));
  if (asking->argument && !is_day(asking->argument))
    return fail_usage("fleet", "%s: it must be a day, such as %s", asking->argument, day);
  schema_write_roll(stdout, asking->database, asking->argument ? asking->argument : day);
  return 0;
}

/* The actions: word, function, arguments, summary. */
static const struct action {
  const char *name;
  int (*run)(const struct asking *asking);
  const char *arguments, *summary;
} actions[] = {
    {"init", init, "[CLUSTER]", "print the statements that make the tables"},
    {"roll", roll, "[DAY]", "print the statement that sums a day of a server, by default yesterday"}};
enum { ACTIONS = sizeof actions / sizeof *actions };

static const struct action *find(const char *name) {
  for (int i = 0; i < ACTIONS; i++)
    if (!strcmp(actions[i].name, name)) return &actions[i];
  return NULL;
}

/* ---- shared ---- */

void fleet_print_options(FILE *out) {
  fputs("      --database NAME  the database of the tables; default " SCHEMA_DATABASE "\n\nActions:\n", out);
  for (int i = 0; i < ACTIONS; i++)
    fprintf(out, "  %-5s%-10s  %s\n", actions[i].name, actions[i].arguments, actions[i].summary);
}

int command_fleet(int argc, char **argv) {
  enum { DATABASE = 256 };
  static const struct option known[] = {{"database", required_argument, NULL, DATABASE}, {0}};
  struct asking asking = {.database = SCHEMA_DATABASE};
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, ":", known, NULL)) != -1;) {
    if (option != DATABASE) return fail_option("fleet", option, argv, known);
    asking.database = optarg;
  }
  if (!schema_names_database(asking.database))
    return fail_usage("fleet", "%s cannot be the name of a database", asking.database);
  if (optind == argc) return fail_usage("fleet", "which action? usage: winnow fleet init [CLUSTER]");
  const struct action *action = find(argv[optind]);
  if (!action) return fail_usage("fleet", "there is no action %s; see 'winnow help fleet'", argv[optind]);
  if (argc - optind > 2)
    return fail_usage("fleet", "usage: winnow fleet %s %s", action->name, action->arguments);
  asking.argument = argv[optind + 1];
  return action->run(&asking);
}
/* SPDX-License-Identifier: MIT */
