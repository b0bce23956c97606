/* winnow fleet: the tables of many machines' recordings, and questions to them. */
#include "base/os.h"
#include "cli/command.h"
#include "cli/fleet/answers.h"
#include "cli/fleet/connection.h"
#include "cli/fleet/schema.h"
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND_NS     UINT64_C(1000000000)
#define SECONDS_A_DAY 86400
#define USUAL_SERVER  "http://127.0.0.1:8123"

/* What is behind the action; NULL at the end. */
enum { ARGUMENTS_MOST = 2 };
struct arguments {
  const char *of[ARGUMENTS_MOST + 1];
};

/* ---- the tables ---- */

static int init(const struct report_options *options, const struct arguments *arguments) {
  const char *cluster = arguments->of[0];
  if (cluster && !schema_names_cluster(cluster))
    return fail_usage("fleet", "%s cannot be the name of a cluster", cluster);
  schema_write(stdout, options->ship.database, cluster);
  return 0;
}

static const char *fleet_day_text(char buffer[16], time_t seconds) {
  struct tm parts;
  strftime(buffer, 16, "%Y-%m-%d", gmtime_r(&seconds, &parts));
  return buffer;
}

static int roll(const struct report_options *options, const struct arguments *arguments) {
  char yesterday[16], again[16];
  struct tm parts = {.tm_mday = 0};
  const char *day = arguments->of[0], *end = day ? strptime(day, "%Y-%m-%d", &parts) : NULL;
  fleet_day_text(yesterday, time(NULL) - SECONDS_A_DAY);
  if (day && (!end || *end || strcmp(day, fleet_day_text(again, timegm(&parts))) != 0))
    return fail_usage("fleet", "%s: it must be a day, such as %s", day, yesterday);
  schema_write_roll(stdout, options->ship.database, day ? day : yesterday);
  return 0;
}

/* ---- questions ---- */

/* Reads a moment: so long ago ("12h", "7d"), a day, or a day and a time, in UTC. False: it is none. */
static bool fleet_read_moment(const char *text, uint64_t now, uint64_t *seconds) {
  static const struct {
    char unit;
    uint64_t seconds;
  } units[] = {{'m', 60}, {'h', 3600}, {'d', SECONDS_A_DAY}, {'w', 7 * SECONDS_A_DAY}};
  static const char *const forms[] = {"%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"};
  char *end;
  unsigned long long number = strtoull(text, &end, 10);
  for (size_t i = 0; i < sizeof units / sizeof *units && *text >= '0' && *text <= '9'; i++)
    if (*end == units[i].unit && !end[1] && number <= now / units[i].seconds)
      return *seconds = now - number * units[i].seconds, true;
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    struct tm parts = {.tm_mday = 0};
    const char *rest = strptime(text, forms[i], &parts);
    int day = parts.tm_mday;
    time_t time = rest && !*rest ? timegm(&parts) : -1;
    if (time >= 0 && parts.tm_mday == day)
      return *seconds = (uint64_t)time, true; /* not the 30th of February */
  }
  return false;
}

static int set_range(struct question_of_fleet *question) {
  const struct ship_options *asked = &question->options->ship;
  uint64_t now = os_wall_ns() / SECOND_NS;
  question->since = now - SECONDS_A_DAY;
  question->until = now;
  if (asked->until && !fleet_read_moment(asked->until, now, &question->until))
    return fail_usage("fleet", "--until %s: it must be as 2h, 7d, 2026-11-29 or 2026-11-29T10:30",
                      asked->until);
  if (question->until > now) question->until = now;
  if (asked->until) question->since = question->until > SECONDS_A_DAY ? question->until - SECONDS_A_DAY : 0;
  if (asked->since && !fleet_read_moment(asked->since, now, &question->since))
    return fail_usage("fleet", "--since %s: it must be as 2h, 7d, 2026-11-29 or 2026-11-29T10:30",
                      asked->since);
  return question->since < question->until ? 0 : fail_usage("fleet", "--since is not before --until");
}

static int refuse_nothing(const struct question_of_fleet *question) {
  if (question->options->ship.service)
    return fail_job("nothing was shipped of %s in that time; see --since", question->options->ship.service);
  return fail_job("nothing was shipped in that time; see --since, and 'winnow ship'");
}

/* Finds the newest window of the range. Releases of several services are not compared: `one_service`. */
static int find_newest(struct question_of_fleet *question, bool one_service) {
  FILE *query = query_begin(question);
  if (query) {
    fputs("SELECT toUInt32(max(time)), count(), uniqExact(service), "
          "arrayStringConcat(arraySlice(groupUniqArray(service), 1, 6), ', ') "
          "FROM loads_all",
          query);
    query_where(question, query, CLICKHOUSE_LOADS);
  }
  int code = query_ask(question, query, 4);
  if (code) return code;
  question->newest = field_integer(question, 0, 0);
  if (!field_integer(question, 0, 1) || question->newest <= FRESH_SECONDS) return refuse_nothing(question);
  if (!one_service || field_integer(question, 0, 2) < 2) return 0;
  return fail_usage("fleet", "give one with --service: there are %s services, such as %.200s",
                    field_text(question, 0, 2), field_text(question, 0, 3));
}

static int fleet_answer(struct question_of_fleet *question, const char *action,
                        const struct arguments *arguments) {
  int code = find_newest(question, !strcmp(action, "diff") || !strcmp(action, "releases"));
  if (code) return code;
  if (!strcmp(action, "top")) return fleet_top(question);
  if (!strcmp(action, "releases")) return fleet_releases(question);
  if (!strcmp(action, "hosts")) return fleet_hosts(question);
  return fleet_diff(question, arguments->of[0], arguments->of[1]);
}

static int ask_server(const struct report_options *options, const char *action,
                      const struct arguments *arguments) {
  struct connection connection;
  struct question_of_fleet question = {.options = options,
                                       .kind = options->ship.allocated ? WINDOW_BORN : WINDOW_HELD};
  sigset_t ending;
  int code = set_range(&question);
  if (code) return code;
  sigemptyset(&ending); /* signals end this process */
  wn_status error = connection_open(&connection, options);
  struct http_options http = connection_options(&connection, options, options->ship.to[0], &ending);
  if (!error) error = http_create(&http, &question.http);
  if (error) return fail_job("%s", wn_last_error());
  code = fleet_answer(&question, action, arguments);
  question_forget(&question);
  http_destroy(question.http);
  connection_close(&connection);
  return code;
}

/* ---- the actions ---- */

/* Word, function (NULL: a question to the server), how many arguments it takes at least and at most,
 * their names, and a summary. */
static const struct action {
  const char *name;
  int (*run)(const struct report_options *options, const struct arguments *arguments);
  int least, most;
  const char *arguments, *summary;
} actions[] = {
    {"top", NULL, 0, 0, "", "which functions hold the most now, over all hosts"},
    {"releases", NULL, 0, 0, "", "what hosts hold on average, for each release (--site: of one function)"},
    {"diff", NULL, 2, 2, "R1 R2", "what changed from one release to another, noise last"},
    {"hosts", NULL, 0, 0, "", "which hosts have more or less than is usual"},
    {"init", init, 0, 1, "[CLUSTER]", "print the statements that make the tables"},
    {"roll", roll, 0, 1, "[DAY]", "print the statements that sum a day of a server; default: yesterday"}};
enum { ACTIONS = sizeof actions / sizeof *actions };

static const struct action *fleet_find(const char *name) {
  for (int i = 0; i < ACTIONS; i++)
    if (!strcmp(actions[i].name, name)) return &actions[i];
  return NULL;
}

/* ---- shared ---- */

void fleet_print_options(FILE *out) {
  options_print(out, FOR_FLEET);
  fputs("\nActions:\n", out);
  for (int i = 0; i < ACTIONS; i++)
    fprintf(out, "  %-9s%-10s  %s\n", actions[i].name, actions[i].arguments, actions[i].summary);
}

int command_fleet(int argc, char **argv) {
  static struct report_options options;
  struct arguments arguments = {{NULL}};
  int code = options_parse(&options, FOR_FLEET, argc, argv);
  if (code) return code;
  if (!options.ship.to[0]) options.ship.to[0] = USUAL_SERVER;
  code = connection_check(&options, "--from");
  if (code) return code;
  if (optind == argc) return fail_usage("fleet", "which action? usage: winnow fleet top [OPTION...]");
  const struct action *action = fleet_find(argv[optind]);
  if (!action) return fail_usage("fleet", "there is no action %s; see 'winnow help fleet'", argv[optind]);
  int count = argc - optind - 1;
  if (count < action->least || count > action->most)
    return fail_usage("fleet", "usage: winnow fleet %s [OPTION...]%s%s", action->name,
                      *action->arguments ? " " : "", action->arguments);
  for (int i = 0; i < count; i++) arguments.of[i] = argv[optind + 1 + i];
  return action->run ? action->run(&options, &arguments) : ask_server(&options, action->name, &arguments);
}
/* SPDX-License-Identifier: MIT */
