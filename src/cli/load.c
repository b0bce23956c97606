/* The stages of loading a trace share one line of a terminal. */
#include "cli/load.h"

#include "analysis/compare/doubts.h"
#include "analysis/load/memory_limit.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/text.h"
#include "trace/history.h"
#include <stdio.h>
#include <string.h>

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

static wn_status load_single(const struct joined_part *input, const struct recording_options *options,
                             struct recording **recording) {
  struct joined_part part = *input;
  part.selected = true;
  return recording_load_joined(&part, 1, part.path, options, recording);
}

wn_status load_joined(struct inputs *inputs, const char *name, const struct recording_options *options,
                      struct recording **recording) {
  size_t taken = 0, last = 0;
  wn_status error = joined_examine(inputs->parts, inputs->count);
  if (error) return error;
  for (size_t i = 0; i < inputs->count; i++)
    if (inputs->parts[i].selected) taken++, last = i;
  if (!taken) return error_set(WN_EIO, "none of %zu files can be part of one report", inputs->count);
  return taken == 1 ? load_single(&inputs->parts[last], options, recording)
                    : recording_load_joined(inputs->parts, inputs->count, name, options, recording);
}

static void say_note(const char *note) {
  for (const char *line = note; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
    fail_job("%.*s", (int)strcspn(line, "\n"), line);
}

wn_status load_inputs(struct inputs *inputs, const char *name, const struct recording_options *options,
                      struct recording **recording) {
  struct stages stages = {.doing = NULL};
  struct recording_options wanted = *options;
  wanted.progress = show_stage;
  wanted.progress_context = &stages;
  wn_status error = inputs->several ? load_joined(inputs, name, &wanted, recording)
                                    : load_single(inputs->parts, &wanted, recording);
  if (stages.doing) progress_end(&stages.progress);
  if (!error) say_note((*recording)->names.note);
  return error;
}

size_t load_say_left_out(const struct inputs *inputs) {
  size_t count = 0;
  char number[64];
  for (size_t i = 0; i < inputs->count; i++) {
    const struct joined_part *part = &inputs->parts[i];
    if (part->selected) continue;
    count += !part->copy;
    fail_job("%s%s", part->why, part->copy ? "" : "; it is left out");
  }
  if (inputs->passed_over)
    fail_job("passed over %s that %s no trace", text_number_of(number, (double)inputs->passed_over, "file"),
             inputs->passed_over == 1 ? "is" : "are");
  return count;
}

const char *load_tell_dropped(char text[LOAD_DROPPED_BYTES], const struct trace_damage *damage) {
  const struct trace_times *times = &damage->dropped;
  char from[32], until[32], all[32], parts[64] = "";
  uint64_t sum = 0;
  for (uint32_t i = 0; i < times->count; i++) sum += times->of[i].until_ns - times->of[i].from_ns;
  if (times->count > 1)
    snprintf(parts, sizeof parts, ", in %u stretches of %s in all,", times->count, text_time(all, sum));
  snprintf(text, LOAD_DROPPED_BYTES, "%s was recorded from %s to %s%s is missing, since %s",
           damage->thinned ? "some of what" : "what",
           text_time(from, times->count ? times->of[0].from_ns : 0),
           text_time(until, times->count ? times->of[times->count - 1].until_ns : 0), parts,
           damage->lacks_history ? "its history, a file named like it with " HISTORY_ENDING
                                   " at the end, is missing or older"
                                 : "the trace had reached its bound (--max-trace)");
  return text;
}

void load_say_missing(const char *name, const struct trace_damage *damage) {
  char lost[160] = "", pieces[160] = "", dropped[LOAD_DROPPED_BYTES + 2] = "", number[64], size[32];
  if (damage->records_lost)
    snprintf(lost, sizeof lost, "%s lost%s%s", text_number_of(number, (double)damage->records_lost, "record"),
             damage->loss_cause ? ", since " : "",
             damage->loss_cause ? trace_cause_name(damage->loss_cause) : "");
  if (damage->chunks_damaged)
    snprintf(pieces, sizeof pieces, "%s damaged%s%s",
             text_number_of(number, (double)damage->chunks_damaged, "piece"),
             damage->bytes_skipped ? ", left out: " : "",
             damage->bytes_skipped ? text_bytes(size, (double)damage->bytes_skipped) : "");
  if (damage->chunks_dropped) {
    char text[LOAD_DROPPED_BYTES];
    snprintf(dropped, sizeof dropped, "%s%s", *lost || *pieces ? "; " : "", load_tell_dropped(text, damage));
  }
  if (trace_is_partial(damage))
    fail_job("%s is incomplete: %s%s%s%s", name, lost, *lost && *pieces ? "; " : "", pieces, dropped);
}

int load_files(struct report_options *options, const char *const *names, size_t count,
               struct recording **recording) {
  struct inputs inputs;
  char text[512];
  if (inputs_open(&inputs, names, count)) return fail_job("%s", wn_last_error());
  options->growing = inputs_are_growing(&inputs);
  const char *name = count == 1 ? names[0] : "the traces";
  wn_status error = load_inputs(&inputs, name, &options->recording, recording);
  int code = error == WN_EINVAL ? fail_usage(options->command, "%s", wn_last_error())
             : error            ? fail_job("%s", input_error(inputs.inputs, text))
                                : 0;
  if (inputs.several && error != WN_EINVAL) options->unread += load_say_left_out(&inputs);
  inputs_close(&inputs);
  if (!code && load_check_grouping(options, *recording, name)) {
    code = fail_usage(options->command, "%s", wn_last_error());
    recording_free(*recording);
    *recording = NULL;
  }
  return code;
}

int load_file(struct report_options *options, const char *name, struct recording **recording) {
  return load_files(options, &name, 1, recording);
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

bool load_is_snapshot(const struct recording *recording) {
  return source_limits(recording->samples->source)->no_callers;
}

wn_status load_refuse_unlike(const char *before_name, const struct recording *before, const char *after_name,
                             const struct recording *after) {
  if (!before || load_is_snapshot(before) == load_is_snapshot(after)) return WN_OK;
  return error_set(WN_EFORMAT,
                   "%.100s, %.100s: one is a heap snapshot, the other is none: they cannot be compared",
                   before_name, after_name);
}

wn_status load_check_grouping(const struct report_options *options, const struct recording *recording,
                              const char *name) {
  if (options->grouping == BY_TYPE && !recording->samples->types)
    return error_set(WN_EINVAL, "--by type: %.100s does not tell of which types its blocks are", name);
  if (options->grouping != BY_THREAD || !source_limits(recording->samples->source)->no_threads) return WN_OK;
  return error_set(WN_EINVAL, "--by thread: %.100s does not tell which threads allocated", name);
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

wn_status load_refuse_time(const struct report_options *options, uint64_t end_ns) {
  char end[32];
  return error_set(WN_EINVAL, "at %s: that is after the end of the trace, %s", options->at_text,
                   text_time(end, end_ns));
}

enum when load_moment(const struct report_options *options, const struct recording *recording) {
  return !options->at_text && memory_ran_out(recording->samples) ? AT_END : options->when[0].at;
}

wn_status load_report(const struct report_options *options, const struct recording *recording,
                      struct report *report) {
  wn_status error = load_check_moment(options, 0, recording, options->file);
  if (error) return error;
  struct question question = {.where = options->where,
                              .at = load_moment(options, recording),
                              .at_ns = options->when[0].ns,
                              .closing = true};
  if (question.at == AT_TIME && question.at_ns > recording->samples->end_ns)
    return load_refuse_time(options, recording->samples->end_ns);
  return report_ask(recording, &question, report);
}

static void warn_of_same(const char *before_name, const struct recording *before, const char *after_name,
                         const struct recording *after) {
  if (!input_is_same_file(before_name, after_name) && !recording_is_same(before, after)) return;
  fputs("winnow: ", stderr);
  text_name(stderr, before_name);
  fputs(" and ", stderr);
  text_name(stderr, after_name);
  fputs(" are the same recording, which is compared with itself\n", stderr);
}

void load_warn_of_pair(const char *before_name, const struct recording *before, const char *after_name,
                       const struct recording *after) {
  const struct doubt *doubts[DOUBTS_MOST];
  size_t count = doubts_of_recordings(before, after, doubts);
  warn_of_same(before_name, before, after_name, after);
  for (size_t i = 0; i < count; i++) fail_job("%s", doubts[i]->text);
}
/* SPDX-License-Identifier: MIT */
