/* winnow report: loads the recording, and prints the report as text or JSON. */
#include "cli/report/report.h"

#include "cli/command.h"
#include "cli/load.h"
#include "cli/text.h"
#include "export/report_json.h"
#include "sources/files/open.h"
#include <getopt.h>
#include <stdio.h>

enum { JSON_ROWS = 10 };

static int refuse_snapshot(const char *name) {
  return fail_job("%s is a heap snapshot: winnow heap says what holds its blocks, winnow view draws it",
                  name);
}

static int report_parse(struct report_options *options, int argc, char **argv) {
  int code = options_parse(options, FOR_REPORT, argc, argv);
  if (code) return code;
  if (optind == argc || !*argv[optind])
    return fail_usage("report", "which trace? usage: winnow report [OPTION...] FILE...");
  options->files = (const char *const *)argv + optind;
  options->file_count = (size_t)(argc - optind);
  options->file = *options->files;
  if (options->json && !options->order_given) options->order = SITES_BY_TOTAL;
  for (size_t i = 0; i < options->file_count; i++)
    if (source_is_snapshot(options->files[i])) return refuse_snapshot(options->files[i]);
  return 0;
}

/* ---- printing ---- */

static wn_status report_print_json(const struct report_options *options, const struct report *report) {
  static const char *const when[] = {"peak", "end"};
  struct report_json_options json = {
      .grouping = options->grouping,
      .order = options->order,
      .top = options->top ? options->top : JSON_ROWS,
      .at = report->at == AT_TIME ? options->at_text : when[report->at],
      .where = options->where,
  };
  return report_write_json(stdout, report, &json);
}

static wn_status report_print(const struct report_options *options, const struct recording *recording) {
  struct report report;
  wn_status error = load_report(options, recording, &report);
  if (error) return error;
  if (options->json) {
    error = report_print_json(options, &report);
  } else {
    FILE *pager = options->no_pager ? NULL : pager_begin();
    ascii_if_locale_asks(&stdout);
    error = view_print_text(&report, options);
    pager_end(pager);
  }
  report_destroy(&report);
  return error;
}

/* ---- shared ---- */

void report_print_options(FILE *out) { options_print(out, FOR_REPORT); }

int command_report(int argc, char **argv) {
  struct report_options options = {0};
  struct recording *recording = NULL;
  int code = report_parse(&options, argc, argv);
  if (!code) code = load_files(&options, options.files, options.file_count, &recording);
  if (code) return code;
  if (load_is_snapshot(recording)) { /* from a pipe */
    recording_free(recording);
    return refuse_snapshot(options.file);
  }
  wn_status error = report_print(&options, recording);
  recording_free(recording);
  return error == WN_EINVAL ? fail_usage("report", "%s", wn_last_error())
         : error            ? fail_job("%s", wn_last_error())
         : options.unread   ? EXIT_JOB
                            : 0;
}
/* SPDX-License-Identifier: MIT */
