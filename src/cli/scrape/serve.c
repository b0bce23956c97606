/* winnow serve: serves profiles and metrics of recordings until a signal comes. */
#include "base/open_file.h"
#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/options.h"
#include "cli/scrape/answer.h"
#include "cli/scrape/scraper.h"
#include "cli/serve/ending.h"
#include "cli/text.h"
#include <getopt.h>
#include <malloc.h>
#include <unistd.h>

/* Samples of a recording unless the user gives another number: bench/results/figures.md. */
enum { USUAL_SAMPLES = 50000, TIDY_SECONDS = 20 };

static void serve_announce(const struct scraper *scraper, size_t count) {
  const struct endpoint *endpoint = &scraper->web.endpoint;
  char number[64];
  if (*endpoint->path)
    printf("unix:%s serves ", endpoint->path);
  else
    printf("http://%s:%u/ serves ", endpoint->host, endpoint->port);
  printf("%s; Ctrl-C ends it\n", text_number_of(number, (double)count, "recording"));
  fflush(stdout);
}

static wn_status serve_serve(const struct report_options *options, struct targets *targets,
                             const struct token *token) {
  struct scraper scraper;
  sigset_t ending;
  ending_block(&ending);
  wn_status error =
      scraper_start(&scraper, targets, options->listen ? options->listen : "127.0.0.1:6060", token);
  if (error) return error;
  serve_announce(&scraper, targets->count);
  while (!ending_wait(&ending, TIDY_SECONDS)) {
    scraper_tidy(&scraper);
    pthread_mutex_lock(&targets->lock);
    targets_tidy(targets);
    malloc_trim(0);
    pthread_mutex_unlock(&targets->lock);
  }
  scraper_stop(&scraper);
  return WN_OK;
}

/* ---- shared ---- */

void serve_print_options(FILE *out) { options_print(out, FOR_SERVE); }

int command_serve(int argc, char **argv) {
  struct report_options options = {0};
  struct targets targets;
  struct token token = {""};
  int code = options_parse(&options, FOR_SERVE, argc, argv);
  if (code) return code;
  mallopt(M_ARENA_MAX, 1); /* one thread computes at a time, and what it frees is for the next */
  size_t given = options.recording.samples_most;
  options.recording.samples_most = options.full ? 0 : given ? given : USUAL_SAMPLES;
  if (options.token_file && token_read(&token, options.token_file)) return fail_job("%s", wn_last_error());
  if (!geteuid()) open_file_refuse_links();
  inputs_trim(argv + optind, argc - optind);
  wn_status error = targets_open(&targets, SERVED_MOST, argv + optind, argc - optind, &options.recording);
  bool found = !error;
  if (!error) error = serve_serve(&options, &targets, options.token_file ? &token : NULL);
  targets_close(&targets);
  return found && error == WN_EINVAL ? fail_usage("serve", "%s", wn_last_error())
         : error                     ? fail_job("%s", wn_last_error())
                                     : 0;
}
/* SPDX-License-Identifier: MIT */
