/* winnow compact: makes traces that have grown fit their bound, while their programs run or
 * afterwards.
 *
 * The trace of a program that runs is compacted when it is due (compact/compact.h); one whose
 * program has ended, if it takes more than the bound with its history. */
#include "base/array.h"
#include "cli/command.h"
#include "cli/history_file.h"
#include "cli/inputs.h"
#include "cli/record/step_back.h"
#include "cli/recordings.h"
#include "cli/text.h"
#include "compact/compact.h"
#include "settings/settings.h"
#include "sources/files/open.h"
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_BOUND "64M"

struct trace {
  char *path;
  char *name; /* for people; the same, or as the process has it */
};

struct traces {
  struct trace *items;
  size_t count, capacity;
};

struct job {
  uint64_t max_bytes;
  bool quiet;
  struct traces traces;
  size_t done;
  int code;
};

/* ---- which traces ---- */

static bool compact_command_add(struct job *job, const char *path, const char *name) {
  struct traces *traces = &job->traces;
  struct trace trace = {strdup(path), strdup(name)};
  if (trace.path && trace.name && ARRAY_ADD(traces->items, traces->count, traces->capacity, trace))
    return true;
  free(trace.path);
  free(trace.name);
  job->code = fail_job("not enough memory");
  return false;
}

static bool is_own_format(const char *path) { return source_is_trace(path) && !source_is_memtrace(path); }

/* A file that the caller named. */
static void add_file(struct job *job, const char *name) {
  struct stat found;
  bool exists = !stat(name, &found) && !faccessat(AT_FDCWD, name, R_OK | W_OK, AT_EACCESS);
  if (!exists)
    job->code = fail_job("cannot open %s: %s", name, strerror(errno));
  else if (!S_ISREG(found.st_mode) || !is_own_format(name))
    job->code = fail_job("%s is no trace of Winnow", name);
  else if (history_is_one(name))
    job->code = fail_job("%s is the history of a trace; give the trace", name);
  else
    compact_command_add(job, name, name);
}

/* A folder or a pattern. */
static void add_several(struct job *job, const char *name) {
  struct inputs inputs;
  if (inputs_open(&inputs, &name, 1)) {
    job->code = fail_job("%s", wn_last_error());
    return;
  }
  for (size_t i = 0; i < inputs.count; i++)
    if (is_own_format(inputs.names[i]) && !compact_command_add(job, inputs.names[i], inputs.names[i])) break;
  inputs_close(&inputs);
}

static void compact_command_add_process(struct job *job, const char *number) {
  struct recordings found = {0};
  if (recordings_find(&found, number)) job->code = fail_job("%s", wn_last_error());
  for (size_t i = 0; i < found.count; i++)
    if (!compact_command_add(job, found.items[i].path, found.items[i].trace)) break;
  recordings_destroy(&found);
}

static void add_argument(struct job *job, const char *argument) {
  struct stat found;
  bool is_number = *argument && !argument[strspn(argument, "0123456789")];
  if (inputs_has_several(argument))
    add_several(job, argument);
  else if (is_number && stat(argument, &found))
    compact_command_add_process(job, argument);
  else
    add_file(job, argument);
}

/* ---- compaction ---- */

static bool compact_command_is_due(const struct job *job, const char *path) {
  return history_disk_bytes(path) > job->max_bytes ||
         (input_is_growing(path) && compact_is_due(path, job->max_bytes));
}

static void compact_command_say_done(const struct trace *trace, const struct compact_result *result) {
  char before[32], after[32], chunks[64], samples[64], left[32];
  fputs("winnow: ", stdout);
  text_name(stdout, trace->name);
  printf(": %s \u2192 %s, %s, %s \u2192 %s\n", text_bytes(before, (double)result->bytes_before),
         text_bytes(after, (double)result->bytes_after),
         text_number_of(chunks, (double)result->chunks, "chunk"),
         text_number_of(samples, (double)result->samples_before, "sample"),
         text_count(left, (double)result->samples_after));
  fflush(stdout);
}

static void compact_one(struct job *job, const struct trace *trace) {
  struct compact_result result;
  if (!compact_command_is_due(job, trace->path)) return;
  if (compact_trace(trace->path, job->max_bytes, &result)) {
    job->code = fail_job("%s", wn_last_error());
    return;
  }
  job->done += result.chunks > 0;
  if (result.chunks && !job->quiet) compact_command_say_done(trace, &result);
}

static void say_nothing_done(const struct job *job) {
  const struct traces *traces = &job->traces;
  char bytes[32], most[32], number[64];
  text_bytes(most, (double)job->max_bytes);
  if (traces->count == 1) {
    fputs("winnow: ", stdout);
    text_name(stdout, traces->items->name);
    printf(": nothing to do: it takes %s of %s\n",
           text_bytes(bytes, (double)history_disk_bytes(traces->items->path)), most);
  } else {
    printf("winnow: nothing to do: none of %s is too large for %s\n",
           text_number_of(number, (double)traces->count, "trace"), most);
  }
}

static void compact_all(struct job *job) {
  struct progress progress;
  progress_begin(&progress, "Compacting");
  for (size_t i = 0; i < job->traces.count; i++) {
    if (!job->quiet) progress_show((double)i / (double)job->traces.count, &progress);
    compact_one(job, &job->traces.items[i]);
  }
  progress_end(&progress);
  if (!job->done && !job->code && !job->quiet) say_nothing_done(job);
}

/* ---- the command line ---- */

static int set_bound(struct job *job, const char *text, bool is_option) {
  struct settings settings = settings_initial();
  char complaint[SETTING_COMPLAINT_BYTES];
  if (setting_set(&settings, SETTING_MAX_TRACE, text)) {
    job->max_bytes = settings.of[SETTING_MAX_TRACE].whole;
    return 0;
  }
  if (is_option)
    setting_complain_of_option(complaint, SETTING_MAX_TRACE, text);
  else
    setting_complain_of_variable(complaint, SETTING_MAX_TRACE, text);
  return fail_usage("compact", "%s", complaint);
}

static int compact_command_parse(struct job *job, int argc, char **argv) {
  static const struct option known[] = {
      {"max-trace", required_argument, NULL, 'm'}, {"quiet", no_argument, NULL, 'q'}, {0}};
  const char *bound = NULL, *usual = getenv(setting_rows[SETTING_MAX_TRACE].variable);
  int option, code;
  opterr = 0;
  while ((option = getopt_long(argc, argv, ":m:q", known, NULL)) != -1) {
    if (option == 'm') bound = optarg;
    if (option == 'q') job->quiet = true;
    if (option == '?' || option == ':') return fail_option("compact", option, argv, known);
  }
  code = set_bound(job, bound ? bound : usual && *usual ? usual : DEFAULT_BOUND, bound);
  if (code) return code;
  if (optind == argc || !*argv[optind])
    return fail_usage("compact", "which trace? usage: winnow compact [OPTION...] PID|TRACE...");
  return 0;
}

/* ---- shared ---- */

int command_compact(int argc, char **argv) {
  struct job job = {0};
  int code = compact_command_parse(&job, argc, argv);
  if (code) return code;
  ascii_if_locale_asks(&stdout);
  step_back();
  for (int i = optind; i < argc; i++) add_argument(&job, argv[i]);
  if (job.traces.count) compact_all(&job);
  for (size_t i = 0; i < job.traces.count; i++) {
    free(job.traces.items[i].path);
    free(job.traces.items[i].name);
  }
  free(job.traces.items);
  return job.code;
}
/* SPDX-License-Identifier: MIT */
