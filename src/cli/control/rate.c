/* winnow start, stop and rate: ask recorded processes for another rate of sampling. */
#include "analysis/query/query.h"
#include "base/os.h"
#include "cli/command.h"
#include "cli/recordings.h"
#include "cli/text.h"
#include "settings/settings.h"
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <winnow/status.h>

/* A process that allocates answers in microseconds. */
#define WAIT_NS ((uint64_t)1000 * 1000 * 1000)

struct asking {
  const char *command;
  double rate; /* below 0: each process's usual one */
  double duration_ns;
  bool quiet;
};

static bool set_rate(struct asking *asking, const char *text) {
  struct settings settings = settings_initial();
  if (!setting_set(&settings, SETTING_RATE, text)) return false;
  asking->rate = settings.of[SETTING_RATE].fraction;
  return true;
}

static int fail_rate(const struct asking *asking, const char *text) {
  char complaint[SETTING_COMPLAINT_BYTES];
  setting_complain_of_option(complaint, SETTING_RATE, text);
  return fail_usage(asking->command, "%s", complaint);
}

/* Seconds, or a time with its unit. */
static bool set_duration(struct asking *asking, const char *text) {
  char *end;
  double seconds = strtod(text, &end);
  bool plain = end != text && !*end;
  double ns = seconds * 1e9;
  if (!plain && !query_time(text, &ns)) return false;
  asking->duration_ns = ns;
  return ns > 0 && ns < 1e18;
}

static void say_done(const struct recording_process *process, double rate, double duration_ns) {
  char time[32];
  printf("process %d ", (int)process->pid);
  if (rate > 0)
    printf("samples at %g", rate);
  else
    fputs("samples nothing", stdout);
  if (duration_ns > 0) printf(" for %s", text_time(time, (uint64_t)duration_ns));
  fputs(", into ", stdout);
  text_file(stdout, process->trace);
  putchar('\n');
}

static bool ask(const struct asking *asking, struct recording_process *process) {
  double rate = asking->rate < 0 ? process->page.usual_rate : asking->rate;
  uint64_t until = asking->duration_ns > 0 ? os_monotonic_ns() + (uint64_t)asking->duration_ns : 0;
  uint64_t number = recordings_ask(process, rate, until);
  if (!number) {
    fail_job("process %d cannot be asked: its control file is locked by another command, or was made shorter",
             (int)process->pid);
    return false;
  }
  if (!recordings_wait(process, number, WAIT_NS))
    printf("process %d was asked, and does it at its next allocations: it made none since, or ended\n",
           (int)process->pid);
  else if (!asking->quiet)
    say_done(process, rate, asking->duration_ns);
  return true;
}

static int ask_all(const struct asking *asking, char *const *names, int count) {
  struct recordings found = {0};
  int code = 0;
  for (int i = 0; i < count; i++)
    if (recordings_find(&found, names[i])) code = fail_job("%s", wn_last_error());
  for (size_t i = 0; i < found.count; i++)
    if (!ask(asking, &found.items[i])) code = EXIT_JOB;
  recordings_destroy(&found);
  return code;
}

static int fail_no_process(const struct asking *asking, const char *usage) {
  return fail_usage(asking->command, "which process? usage: winnow %s", usage);
}

static int parse_and_ask(struct asking *asking, int argc, char **argv, const char *letters,
                         const struct option *known, const char *usage) {
  int option;
  opterr = 0;
  while ((option = getopt_long(argc, argv, letters, known, NULL)) != -1) {
    if (option == 'r' && !set_rate(asking, optarg)) return fail_rate(asking, optarg);
    if (option == 'd' && !set_duration(asking, optarg))
      return fail_usage(asking->command,
                        "--duration %s: it must be seconds, or a time with its unit, such as 5m", optarg);
    if (option == 'q') asking->quiet = true;
    if (option == '?' || option == ':') return fail_option(asking->command, option, argv, known);
  }
  if (optind == argc) return fail_no_process(asking, usage);
  return ask_all(asking, argv + optind, argc - optind);
}

/* ---- shared ---- */

#define QUIET \
  { "quiet", no_argument, NULL, 'q' }

int command_start(int argc, char **argv) {
  static const struct option known[] = {
      {"rate", required_argument, NULL, 'r'}, {"duration", required_argument, NULL, 'd'}, QUIET, {0}};
  struct asking asking = {.command = "start", .rate = -1};
  return parse_and_ask(&asking, argc, argv, ":r:d:q", known, "start [OPTION...] PID|TRACE...");
}

int command_stop(int argc, char **argv) {
  static const struct option known[] = {QUIET, {0}};
  struct asking asking = {.command = "stop"};
  return parse_and_ask(&asking, argc, argv, ":q", known, "stop [OPTION...] PID|TRACE...");
}

int command_rate(int argc, char **argv) {
  static const struct option known[] = {QUIET, {0}};
  static const char usage[] = "rate [OPTION...] PID|TRACE... RATE";
  struct asking asking = {.command = "rate"};
  int option;
  opterr = 0;
  while ((option = getopt_long(argc, argv, ":q", known, NULL)) != -1) {
    if (option != 'q') return fail_option("rate", option, argv, known);
    asking.quiet = true;
  }
  if (argc - optind < 2) return fail_no_process(&asking, usage);
  if (!set_rate(&asking, argv[argc - 1])) return fail_rate(&asking, argv[argc - 1]);
  return ask_all(&asking, argv + optind, argc - optind - 1);
}
/* SPDX-License-Identifier: MIT */
