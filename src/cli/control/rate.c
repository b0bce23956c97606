/* winnow start, stop and rate: ask recorded processes for another rate of sampling. */
#include "analysis/query/query.h"
#include "cli/command.h"
#include "cli/recordings.h"
#include "cli/text.h"
#include "settings/settings.h"
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <winnow/status.h>

/* A process that allocates answers in microseconds. */
#define WAIT_NS ((uint64_t)1000 * 1000 * 1000)

struct asking {
  const char *command;
  struct control_sampling sampling;
  bool is_usual; /* each process's usual sampling, in place of that */
  double duration_ns;
  bool quiet;
};

/* What is given of rate and budget; as `winnow record` takes them. */
static int rate_set(struct asking *asking, struct settings *settings, enum setting setting,
                    const char *text) {
  char complaint[SETTING_COMPLAINT_BYTES];
  if (setting_set(settings, setting, text)) {
    asking->sampling =
        (struct control_sampling){settings->of[SETTING_RATE].fraction, settings->of[SETTING_BUDGET].fraction};
    asking->is_usual = false;
    return 0;
  }
  setting_complain_of_option(complaint, setting, text);
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

static void rate_say_done(const struct recording_process *process, const struct control_sampling *sampling,
                          double duration_ns) {
  char text[96], time[32];
  bool samples = sampling->rate > 0;
  printf("process %d samples ", (int)process->pid);
  fputs(samples ? "into " : "nothing; its trace is ", stdout);
  text_file(stdout, process->trace);
  if (samples && duration_ns > 0) printf(", for %s", text_time(time, (uint64_t)duration_ns));
  if (samples) printf(", at %s", text_rate(text, sampling->rate, sizeof(uintptr_t)));
  if (samples && sampling->budget > 0)
    printf("; the rate follows, so that recording takes up to %g %% of the processor time",
           100 * sampling->budget);
  putchar('\n');
}

static bool rate_ask(const struct asking *asking, struct recording_process *process) {
  struct control_sampling sampling = asking->is_usual ? process->page.usual : asking->sampling;
  uint64_t number = recordings_ask(process, &sampling, (uint64_t)asking->duration_ns);
  if (!number) {
    fail_job("process %d cannot be asked: its control file is locked by another command, or was made shorter",
             (int)process->pid);
    return false;
  }
  if (!recordings_wait(process, number, WAIT_NS))
    printf("process %d was asked, and looks when a thread has allocated 512 KiB or takes a sample: none did "
           "yet, or it ended\n",
           (int)process->pid);
  else if (!asking->quiet)
    rate_say_done(process, &sampling, asking->duration_ns);
  return true;
}

static int ask_all(const struct asking *asking, char *const *names, int count) {
  struct recordings found = {0};
  int code = 0;
  for (int i = 0; i < count; i++)
    if (recordings_find(&found, names[i])) code = fail_job("%s", wn_last_error());
  for (size_t i = 0; i < found.count; i++)
    if (!rate_ask(asking, &found.items[i])) code = EXIT_JOB;
  recordings_destroy(&found);
  return code;
}

static int fail_no_process(const struct asking *asking, const char *usage) {
  return fail_usage(asking->command, "which process? usage: winnow %s", usage);
}

static int rate_parse(struct asking *asking, int argc, char **argv, const char *letters,
                      const struct option *known) {
  struct settings settings = settings_initial();
  int option, code = 0;
  opterr = 0;
  while (!code && (option = getopt_long(argc, argv, letters, known, NULL)) != -1) {
    if (option == 'r') code = rate_set(asking, &settings, SETTING_RATE, optarg);
    if (option == 'b') code = rate_set(asking, &settings, SETTING_BUDGET, optarg);
    if (option == 'd' && !set_duration(asking, optarg))
      return fail_usage(asking->command,
                        "--duration %s: it must be seconds, or a time with its unit, such as 5m", optarg);
    if (option == 'q') asking->quiet = true;
    if (option == '?' || option == ':') return fail_option(asking->command, option, argv, known);
  }
  return code;
}

/* ---- shared ---- */

#define QUIET \
  { "quiet", no_argument, NULL, 'q' }
#define BUDGET \
  { "budget", required_argument, NULL, 'b' }

int command_start(int argc, char **argv) {
  static const struct option known[] = {
      {"rate", required_argument, NULL, 'r'}, BUDGET, {"duration", required_argument, NULL, 'd'}, QUIET, {0}};
  struct asking asking = {.command = "start", .is_usual = true};
  int code = rate_parse(&asking, argc, argv, ":r:b:d:q", known);
  if (code) return code;
  if (optind == argc) return fail_no_process(&asking, "start [OPTION...] PID|TRACE...");
  return ask_all(&asking, argv + optind, argc - optind);
}

int command_stop(int argc, char **argv) {
  static const struct option known[] = {QUIET, {0}};
  struct asking asking = {.command = "stop"};
  int code = rate_parse(&asking, argc, argv, ":q", known);
  if (code) return code;
  if (optind == argc) return fail_no_process(&asking, "stop [OPTION...] PID|TRACE...");
  return ask_all(&asking, argv + optind, argc - optind);
}

/* The last argument is the rate, unless there is a budget. */
int command_rate(int argc, char **argv) {
  static const struct option known[] = {BUDGET, QUIET, {0}};
  static const char usage[] = "rate [OPTION...] PID|TRACE... RATE";
  struct asking asking = {.command = "rate", .is_usual = true};
  int code = rate_parse(&asking, argc, argv, ":b:q", known);
  if (code) return code;
  if (argc - optind < 1 + asking.is_usual) return fail_no_process(&asking, usage);
  if (asking.is_usual) {
    struct settings settings = settings_initial();
    code = rate_set(&asking, &settings, SETTING_RATE, argv[--argc]);
  }
  return code ? code : ask_all(&asking, argv + optind, argc - optind);
}
/* SPDX-License-Identifier: MIT */
