/* winnow view: loads the recording, and serves the page that shows it until a signal comes. */
#include "cli/command.h"
#include "cli/input.h"
#include "cli/load.h"
#include "cli/options.h"
#include "cli/serve/ending.h"
#include "cli/serve/live.h"
#include "cli/serve/page_address.h"
#include "cli/serve/server.h"
#include "cli/text.h"
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <unistd.h>

/* Samples in memory unless the user gives another number: then the process takes 256 MB at most, also
 * while a growing trace is loaded anew, and answers come within half a second (bench/results/figures.md). */
enum { USUAL_SAMPLES = 300000 };

static int view_parse(struct report_options *options, int argc, char **argv) {
  int code = options_parse(options, FOR_VIEW, argc, argv);
  if (code) return code;
  if (optind == argc || !*argv[optind])
    return fail_usage("view", "which trace? usage: winnow view [OPTION...] [BEFORE] FILE");
  if (optind + 2 < argc) return fail_usage("view", "the page has one trace, or two that it compares");
  inputs_trim(argv + optind, argc - optind);
  options->file = argv[argc - 1];
  options->other = optind + 1 < argc ? argv[optind] : NULL;
  size_t given = options->recording.samples_most;
  options->recording.samples_most = options->full ? 0 : given ? given : USUAL_SAMPLES;
  return 0;
}

/* ---- the desktop's browser ---- */

/* Opens addresses by xdg-open, without a shell. The child is in a session of its own, so that Ctrl-C
 * ends the server and not a browser that xdg-open has started. Nothing waits for it: it may run as long
 * as the browser. Its arguments are visible to other users of the machine; with --no-open it is not. */

static bool desktop_is_set(const char *variable) {
  const char *value = getenv(variable);
  return value && *value;
}

static void desktop_start(const char *address) {
  char *arguments[] = {"xdg-open", (char *)address, NULL};
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t files;
  sigset_t none, all;
  pid_t child;
  sigemptyset(&none);
  sigfillset(&all);
  if (posix_spawnattr_init(&attributes)) return;
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  if (!posix_spawn_file_actions_init(&files)) {
    for (int fd = 0; fd < 3; fd++)
      posix_spawn_file_actions_addopen(&files, fd, "/dev/null", fd ? O_WRONLY : O_RDONLY, 0);
    (void)posix_spawnp(&child, *arguments, &files, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&files);
  }
  posix_spawnattr_destroy(&attributes);
}

/* Opens an address in the user's browser if standard output is a terminal on a desktop. Nothing
 * happens otherwise, or if there is no xdg-open: the user has read the address. */
static void desktop_open(const char *address) {
  if (isatty(1) && (desktop_is_set("DISPLAY") || desktop_is_set("WAYLAND_DISPLAY"))) desktop_start(address);
}

/* ---- serving ---- */

/* Which part of the samples is shown, before a name. */
static void print_part(double kept) {
  char part[32];
  if (kept < 1) printf("%s of ", text_part_of_samples(part, kept));
}

/* A server that others can reach is what the user asked for, but they may not know what that means. */
static void view_warn(const struct server *server) {
  if (server->web.endpoint.loopback) return;
  fprintf(stderr,
          "winnow: everybody who can reach this machine and knows the page's address sees the trace%s\n",
          server->web.endpoint.any ? "; elsewhere, its host is the machine's address" : "");
}

static void view_announce(const struct report_options *options, const char *url, double kept) {
  printf("%s shows ", url);
  print_part(kept);
  text_name(stdout, options->file);
  if (options->other) {
    fputs(" compared with ", stdout);
    text_name(stdout, options->other);
  }
  puts(kept < 1 ? "; intervals are wider (--samples all shows all); Ctrl-C ends it" : "; Ctrl-C ends it");
  fflush(stdout);
  if (!options->no_open) desktop_open(url);
}

static wn_status view_serve(const struct report_options *options, struct live *live) {
  struct server server;
  sigset_t ending;
  char *address = page_address(options, load_moment(options, live->recording));
  ending_block(&ending);
  wn_status error =
      server_start(&server, live,
                   &(struct server_options){.address = options->listen ? options->listen : "127.0.0.1",
                                            .port = options->port,
                                            .head = page_head(options, address, true),
                                            .before = options->other,
                                            .file = options->file});
  free(address);
  if (error) return error;
  double kept = live->recording->kept;
  error = live_start(live);
  if (!error) {
    view_announce(options, server.url, kept);
    view_warn(&server);
    ending_wait(&ending, 0);
  }
  live_stop(live);
  server_stop(&server);
  return error;
}

/* A time after the end of a trace is wrong, unless the program still runs. */
static wn_status view_check_time(const struct report_options *options, const struct live *live) {
  const struct when_asked *when = &options->when[0];
  wn_status error = load_check_moment(options, 0, live->recording, options->file);
  if (error || live->followed || when->at != AT_TIME || when->ns <= live->recording->samples->end_ns)
    return error;
  return load_refuse_time(options, live->recording->samples->end_ns);
}

/* ---- shared ---- */

void view_print_options(FILE *out) { options_print(out, FOR_VIEW); }

int command_view(int argc, char **argv) {
  struct report_options options = {0};
  struct live live = {0};
  struct recording *before = NULL;
  struct input input;
  char text[512];
  int code = view_parse(&options, argc, argv);
  if (code) return code;
  if (options.other) code = load_file(&options, options.other, &before);
  if (code) return code;
  if (!input_open(&input, options.file)) return recording_free(before), fail_job("%s", wn_last_error());
  wn_status error = live_open(&live, input_path(&input), &options.recording, before);
  if (!error) error = load_check_grouping(&options, live.recording, options.file);
  if (!error) error = load_refuse_unlike(options.other, before, options.file, live.recording);
  if (!error) error = view_check_time(&options, &live);
  if (!error && before) load_warn_of_pair(options.other, before, options.file, live.recording);
  if (!error && before) load_say_missing(options.other, source_damage(before->samples->source));
  if (!error && !live.followed)
    load_say_missing(options.file, source_damage(live.recording->samples->source));
  if (!error) error = view_serve(&options, &live);
  live_close(&live);
  recording_free(before);
  input_close(&input);
  return error == WN_EINVAL ? fail_usage("view", "%s", wn_last_error())
         : error            ? fail_job("%s", input_error(&input, text))
                            : 0;
}
/* SPDX-License-Identifier: MIT */
