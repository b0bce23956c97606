/* The stages of loading a trace share one line of a terminal. */
#include "cli/load.h"

#include "base/error.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/text.h"
#include <stdio.h>
#include <sys/stat.h>

struct stages {
  struct progress progress;
  const char *doing;
};

static void show_stage(const char *doing, double done, void *context) {
  struct stages *stages = context;
  if (stages->doing != doing) {
    if (stages->doing) progress_end(&stages->progress);
    progress_begin(&stages->progress, doing);
    stages->doing = doing;
  }
  progress_show(done, &stages->progress);
}

wn_status load_recording(const char *path, const struct recording_options *options,
                         struct recording **recording) {
  struct stages stages = {.doing = NULL};
  struct recording_options wanted = *options;
  wanted.progress = show_stage;
  wanted.progress_context = &stages;
  wn_status error = recording_load(path, &wanted, recording);
  if (stages.doing) progress_end(&stages.progress);
  return error;
}

int load_file(const struct report_options *options, const char *name, struct recording **recording) {
  struct input input;
  char text[512];
  if (!input_open(&input, name)) return fail_job("%s", wn_last_error());
  wn_status error = load_recording(input_path(&input), &options->recording, recording);
  int code = error == WN_EINVAL ? fail_usage(options->command, "%s", wn_last_error())
             : error            ? fail_job("%s", input_error(&input, text))
                                : 0;
  input_close(&input);
  return code;
}

wn_status load_needs_events(const struct recording *recording, const char *name, const char *what) {
  if (!source_limits(recording->samples->source)->totals) return WN_OK;
  return error_set(WN_EINVAL,
                   "%.100s has totals of stacks alone, and %s needs to know what became of each block", name,
                   what);
}

wn_status load_needs_lives(const struct recording *recording, const char *name, const char *what) {
  if (!source_limits(recording->samples->source)->no_lives) return WN_OK;
  return error_set(WN_EINVAL, "%.100s does not tell when which block was freed, and %s needs to know that",
                   name, what);
}

bool load_asks_end(const struct report_options *options, const struct recording *before,
                   const struct recording *after) {
  return !options->at_text &&
         (source_limits(before->samples->source)->no_peak || source_limits(after->samples->source)->no_peak);
}

wn_status load_check_moment(const struct report_options *options, int which,
                            const struct recording *recording, const char *name) {
  const struct source_limits *limits = source_limits(recording->samples->source);
  enum when at = options->when[which].at;
  if (!options->at_text || !limits->totals || at == AT_END) return WN_OK;
  if (at == AT_PEAK && !limits->no_peak) return WN_OK;
  return error_set(WN_EINVAL, "at %s: %.100s tells only what was held at %s", options->at_text, name,
                   limits->no_peak ? "its own moment (--at end)" : "the peak and the end");
}

wn_status load_report(const struct report_options *options, const struct recording *recording,
                      struct report *report) {
  wn_status error = load_check_moment(options, 0, recording, options->file);
  if (error) return error;
  struct question question = {
      .where = options->where, .at = options->when[0].at, .at_ns = options->when[0].ns, .closing = true};
  if (question.at == AT_TIME && question.at_ns > recording->samples->end_ns)
    return error_set(WN_EINVAL, "at %s: that is after the end of the trace", options->at_text);
  return report_ask(recording, &question, report);
}

bool load_is_same_file(const char *one, const char *other) {
  struct stat left, right;
  return !stat(one, &left) && !stat(other, &right) && left.st_dev == right.st_dev &&
         left.st_ino == right.st_ino;
}

void load_warn_of_same(const char *before_name, const struct recording *before, const char *after_name,
                       const struct recording *after) {
  if (!load_is_same_file(before_name, after_name) && !recording_is_same(before, after)) return;
  fputs("winnow: ", stderr);
  text_name(stderr, before_name);
  fputs(" and ", stderr);
  text_name(stderr, after_name);
  fputs(" are the same recording, which is compared with itself\n", stderr);
}
/* SPDX-License-Identifier: MIT */
