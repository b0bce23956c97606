/* winnow diff: compares two recordings, or two moments of one. Loads them, asks both the same
 * question, prints the comparison, and checks limits. */
#include "cli/report/diff.h"

#include "base/error.h"
#include "cli/command.h"
#include "cli/load.h"
#include "cli/text.h"
#include "export/diff_json.h"
#include <getopt.h>
#include <stdio.h>

enum { JSON_ROWS = 100 };

/* Two moments are compared by the blocks that only one of them has, so there is no whole of which a
 * change is a percentage. */
static int check_moment_limits(const struct report_options *options) {
  for (int i = 0; i < options->limit_count; i++) {
    const struct limit *limit = &options->limits[i];
    if (limit->measure != MEASURE_HELD)
      return fail_usage("diff", "--fail-if '%s': two moments are compared by what is held", limit->text);
    if (limit->relative)
      return fail_usage("diff", "--fail-if '%s': for two moments it must be bytes", limit->text);
  }
  return 0;
}

static int diff_parse(struct report_options *options, int argc, char **argv) {
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
  return options->other ? 0 : check_moment_limits(options);
}

/* ---- questions ---- */

/* The time of a moment of a recording. WN_EINVAL: it is after the end. */
static wn_status diff_time_of(const struct recording *recording, const struct report_options *options,
                              const struct when_asked *when, uint64_t *ns) {
  struct report report;
  struct question question = {.where = options->where, .at = when->at, .at_ns = when->ns};
  if (when->at == AT_TIME && when->ns > recording->samples->end_ns)
    return load_refuse_time(options, recording->samples->end_ns);
  wn_status error = report_ask(recording, &question, &report);
  if (error) return error;
  *ns = report.asked.time_ns;
  report_destroy(&report);
  return WN_OK;
}

static wn_status ask_moments(const struct recording *recording, struct diff *diff) {
  const struct report_options *options = diff->options;
  uint64_t before_ns = 0, after_ns = 0;
  wn_status error = load_needs_events(recording, options->file, "a comparison of two moments");
  if (!error) error = diff_time_of(recording, options, &options->when[0], &before_ns);
  if (!error) error = diff_time_of(recording, options, &options->when[1], &after_ns);
  if (!error && before_ns > after_ns)
    error = error_set(WN_EINVAL, "--at %s: the first moment is after the second", options->at_text);
  return error ? error : pair_of_moments(recording, options->where, before_ns, after_ns, &diff->pair);
}

/* The question to one of two runs. WN_EINVAL: its time is after the end. */
static wn_status question_of(const struct recording *recording, const struct report_options *options,
                             int which, struct question *question) {
  const struct when_asked *when = &options->when[which];
  *question = (struct question){.where = options->where, .at = when->at, .at_ns = when->ns};
  if (when->at == AT_TIME && when->ns > recording->samples->end_ns)
    return error_set(WN_EINVAL, "at %s: that is after the end of %s", options->at_text,
                     which ? options->other : options->file);
  return WN_OK;
}

static wn_status check_scaling(const struct recording *recording, const char *name, enum scaling scaling) {
  bool timeless = source_limits(recording->samples->source)->totals;
  if (scaling != PER_SECOND || !timeless) return WN_OK;
  return error_set(WN_EINVAL, "--per second: %.100s does not tell how long its program ran", name);
}

static wn_status ask_runs(const struct recording *before, const struct recording *after, struct diff *diff) {
  struct question had, has;
  const struct report_options *options = diff->options;
  wn_status error = load_check_moment(options, 0, before, options->file);
  if (!error) error = load_check_moment(options, 1, after, options->other);
  if (!error) error = check_scaling(before, options->file, options->scaling);
  if (!error) error = check_scaling(after, options->other, options->scaling);
  if (!error) error = question_of(before, diff->options, 0, &had);
  if (!error) error = question_of(after, diff->options, 1, &has);
  if (!error && load_asks_end(options, before, after)) had.at = has.at = AT_END;
  return error ? error : pair_of_runs(before, &had, after, &has, diff->options->scaling, &diff->pair);
}

/* ---- limits ---- */

/* Says which limits are passed, or that it cannot be known. Returns the exit code. */
static int diff_check_limits(const struct diff *diff) {
  int code = 0;
  if (diff->options->limit_count && pair_is_partial(&diff->pair))
    return fail_job("records are missing, so it is not known whether a limit is passed");
  if (diff->options->limit_count && pair_is_of_few_hosts(&diff->pair))
    return fail_job("hosts are too few, so it is not known whether a limit is passed");
  if (diff->options->limit_count && pair_is_without_ranges(&diff->pair))
    return fail_job("estimates without ranges are compared, so it is not known whether a limit is passed");
  for (int i = 0; i < diff->options->limit_count; i++) {
    const struct limit *limit = &diff->options->limits[i];
    struct compared_tables tables;
    char change[40], range[64];
    if (pair_compare(&diff->pair, limit->measure, BY_FUNCTION, EXTENT_SELF, &tables))
      return fail_job("%s", wn_last_error());
    const struct change *bytes = &tables.comparison.bytes;
    if (limit_is_passed(limit, bytes, tables.comparison.sure))
      code =
          fail_job("%s: it changed by %s (%s)", limit->text, text_change(change, bytes->difference.estimate),
                   text_change_range(range, &bytes->difference));
    compared_tables_destroy(&tables);
  }
  return code;
}

/* ---- printing ---- */

static wn_status diff_print(struct diff *diff) {
  if (!diff->options->json) {
    FILE *pager = diff->options->no_pager ? NULL : pager_begin();
    ascii_if_locale_asks(&stdout);
    wn_status error = diff_find_facts(diff);
    if (!error) error = diff_print_text(diff);
    pager_end(pager);
    return error;
  }
  struct diff_json_options json = {.grouping = diff->options->grouping,
                                   .extent = sites_extent(diff->options->order),
                                   .top = diff->options->top ? diff->options->top : JSON_ROWS,
                                   .at = diff->options->at_text           ? diff->options->at_text
                                         : diff->pair.before.at == AT_END ? "end"
                                                                          : "peak",
                                   .where = diff->options->where};
  return diff_write_json(stdout, &diff->pair, &json);
}

static int compare_diff(const struct report_options *options, const struct recording *before,
                        const struct recording *after) {
  struct diff diff = {.options = options};
  if (after && load_refuse_unlike(options->file, before, options->other, after))
    return fail_job("%s", wn_last_error());
  if (load_is_snapshot(before))
    return fail_job("winnow heap compares heap snapshots, and winnow html draws the difference");
  wn_status error = after ? ask_runs(before, after, &diff) : ask_moments(before, &diff);
  if (error)
    return error == WN_EINVAL ? fail_usage("diff", "%s", wn_last_error()) : fail_job("%s", wn_last_error());
  if (after) load_warn_of_pair(options->file, before, options->other, after);
  error = diff_print(&diff);
  int code = error ? fail_job("%s", wn_last_error()) : diff_check_limits(&diff);
  pair_destroy(&diff.pair);
  return code;
}

/* ---- shared ---- */

wn_status diff_find_facts(struct diff *diff) {
  if (diff->pair.moments) return WN_OK;
  return regression_find(&diff->pair, &diff->before, &diff->after, &diff->verdict);
}

void diff_print_options(FILE *out) { options_print(out, FOR_DIFF); }

int command_diff(int argc, char **argv) {
  struct report_options options = {0};
  struct recording *before = NULL, *after = NULL;
  int code = diff_parse(&options, argc, argv);
  if (code) return code;
  code = load_file(&options, options.file, &before);
  if (!code && options.other) code = load_file(&options, options.other, &after);
  if (!code) code = compare_diff(&options, before, after);
  recording_free(before);
  recording_free(after);
  return code || !options.unread ? code : EXIT_JOB;
}
/* SPDX-License-Identifier: MIT */
