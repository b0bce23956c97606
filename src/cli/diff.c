/* winnow diff: compares two recordings, or two moments of one. Loads them, so that they share their
 * strings, asks both the same question, prints the comparison, and checks limits. */
#include "cli/diff.h"

#include "base/error.h"
#include "cli/ascii.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/load.h"
#include "cli/text.h"
#include "export/diff_json.h"
#include <getopt.h>
#include <stdio.h>

enum { JSON_ROWS = 100 };

static int parse(struct report_options *options, int argc, char **argv) {
  int code = options_parse(options, FOR_DIFF, argc, argv);
  if (code) return code;
  if (optind == argc || !*argv[optind])
    return fail_usage("diff", "which traces? usage: winnow diff [OPTION...] BEFORE AFTER");
  if (optind + 2 < argc) return fail_usage("diff", "two traces at a time");
  options->file = argv[optind];
  options->other = optind + 1 < argc ? argv[optind + 1] : NULL;
  if (!options->other && options->moments < 2)
    return fail_usage("diff", "one trace needs two moments, such as --at 10s,20s; or name two traces");
  if (!options->other && options->scaling)
    return fail_usage("diff", "--per compares two traces, not two moments of one");
  return 0;
}

/* ---- questions ---- */

/* The time of a moment of a recording. WN_EINVAL: it is after the end. */
static wn_status time_of(const struct recording *recording, const struct report_options *options,
                         const struct when_asked *when, uint64_t *ns) {
  struct report report;
  struct question question = {.where = options->where, .at = when->at, .at_ns = when->ns};
  if (when->at == AT_TIME && when->ns > recording->samples->end_ns)
    return error_set(WN_EINVAL, "at %s: that is after the end of the trace", options->at_text);
  wn_status error = report_ask(recording, &question, &report);
  if (error) return error;
  *ns = report.asked.time_ns;
  report_destroy(&report);
  return WN_OK;
}

static wn_status ask_moments(const struct recording *recording, struct diff *diff) {
  const struct report_options *options = diff->options;
  struct question before = {.where = options->where, .at = AT_TIME, .apart = true}, after = before;
  wn_status error = time_of(recording, options, &options->when[0], &before.at_ns);
  if (!error) error = time_of(recording, options, &options->when[1], &after.at_ns);
  if (error) return error;
  before.apart_ns = after.at_ns;
  after.apart_ns = before.at_ns;
  error = report_ask(recording, &before, &diff->before);
  return error ? error : report_ask(recording, &after, &diff->after);
}

static wn_status ask_one(const struct recording *recording, const struct report_options *options, int which,
                         struct report *report) {
  const struct when_asked *when = &options->when[which];
  struct question question = {.where = options->where, .at = when->at, .at_ns = when->ns};
  if (when->at == AT_TIME && when->ns > recording->samples->end_ns)
    return error_set(WN_EINVAL, "at %s: that is after the end of %s", options->at_text,
                     which ? options->other : options->file);
  return report_ask(recording, &question, report);
}

/* What is before is scaled to the length of what is after, or to the bytes that it allocated. */
static struct estimate scale_of(const struct diff *diff) {
  double before = (double)diff->before.samples->end_ns, after = (double)diff->after.samples->end_ns;
  struct estimate none = {0}, had = report_bytes(&diff->before, &diff->before.allocated),
                  has = report_bytes(&diff->after, &diff->after.allocated);
  if (diff->options->scaling == PER_SECOND && before > 0 && after > 0)
    return (struct estimate){.estimate = after / before, .low = after / before, .high = after / before};
  if (diff->options->scaling == PER_ALLOCATION && had.samples && has.samples) return ratio_of(&has, &had);
  return none;
}

/* ---- limits ---- */

/* Says which limits are passed. Returns the exit code. */
static int check_limits(const struct diff *diff) {
  int code = 0;
  for (int i = 0; i < diff->options->limit_count; i++) {
    const struct limit *limit = &diff->options->limits[i];
    struct compared_tables table;
    char change[40], range[64];
    if (diff_compare(diff, limit->measure, &table)) return fail_job("%s", wn_last_error());
    const struct change *bytes = &table.comparison.bytes;
    if (limit_is_passed(limit, bytes, table.comparison.sure))
      code =
          fail_job("%s: it changed by %s (%s)", limit->text, text_change(change, bytes->difference.estimate),
                   text_change_range(range, &bytes->difference));
    compared_tables_destroy(&table);
  }
  return code;
}

/* ---- printing ---- */

static wn_status print(const struct diff *diff) {
  if (!diff->options->json) {
    ascii_if_locale_asks(&stdout);
    return diff_print_text(diff);
  }
  struct diff_json_options json = {.grouping = diff->options->grouping,
                                   .extent = sites_extent(diff->options->order),
                                   .scale = diff->scale,
                                   .moments = diff->moments,
                                   .top = diff->options->top ? diff->options->top : JSON_ROWS,
                                   .at = diff->options->at_text ? diff->options->at_text : "peak",
                                   .where = diff->options->where};
  return diff_write_json(stdout, &diff->before, &diff->after, &json);
}

static int compare(const struct report_options *options, const struct recording *before,
                   const struct recording *after) {
  struct diff diff = {.options = options, .moments = !options->other};
  wn_status error;
  if (diff.moments) {
    error = ask_moments(before, &diff);
  } else {
    error = ask_one(before, options, 0, &diff.before);
    if (!error) error = ask_one(after, options, 1, &diff.after);
    if (!error) diff.scale = scale_of(&diff);
  }
  if (!error) error = print(&diff);
  int code = error == WN_EINVAL ? fail_usage("diff", "%s", wn_last_error())
             : error            ? fail_job("%s", wn_last_error())
                                : check_limits(&diff);
  report_destroy(&diff.before);
  report_destroy(&diff.after);
  return code;
}

/* ---- loading ---- */

static int load(const struct report_options *options, const char *name, struct strings *strings,
                struct recording **recording) {
  struct input input;
  char text[512];
  struct recording_options wanted = options->recording;
  wanted.names.strings = strings;
  if (!input_open(&input, name)) return fail_job("%s", wn_last_error());
  wn_status error = load_recording(input_path(&input), &wanted, recording);
  int code = error == WN_EINVAL ? fail_usage("diff", "%s", wn_last_error())
             : error            ? fail_job("%s", input_error(&input, text))
                                : 0;
  input_close(&input);
  return code;
}

/* ---- shared ---- */

wn_status diff_compare(const struct diff *diff, enum measure measure, struct compared_tables *tables) {
  struct comparison_options options = {sites_extent(diff->options->order), diff->scale};
  return compared_tables_make(&diff->before, &diff->after, measure, diff->options->grouping, &options,
                              tables);
}

void diff_print_options(FILE *out) { options_print(out, FOR_DIFF); }

int command_diff(int argc, char **argv) {
  struct report_options options = {0};
  struct recording *before = NULL, *after = NULL;
  int code = parse(&options, argc, argv);
  if (code) return code;
  struct strings *strings = strings_create();
  if (!strings) return fail_job("not enough memory for the names");
  code = load(&options, options.file, strings, &before);
  if (!code && options.other) code = load(&options, options.other, strings, &after);
  if (!code) code = compare(&options, before, after);
  recording_free(before);
  recording_free(after);
  strings_free(strings);
  return code;
}
/* SPDX-License-Identifier: MIT */
