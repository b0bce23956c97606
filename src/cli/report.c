/* winnow report: loads the recording, and prints the report as text or JSON. */
#include "cli/report.h"

#include "cli/ascii.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/load.h"
#include "export/report_json.h"
#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

enum { JSON_ROWS = 10 };

/* Refuses a second argument. One that is no file is named, since it may be a mistyped option or
 * value. */
static int refuse_several(char **more, int count) {
  for (int i = 0; i < count; i++)
    if (access(more[i], F_OK))
      return fail_usage("report", "one trace at a time, and there is no file '%s'", more[i]);
  return fail_usage(
      "report", "one trace at a time; 'winnow diff A B' compares two, 'winnow info FILE...' lists several");
}

static int parse(struct report_options *options, int argc, char **argv) {
  int code = options_parse(options, FOR_REPORT, argc, argv);
  if (code) return code;
  if (optind == argc || !*argv[optind])
    return fail_usage("report", "which trace? usage: winnow report [OPTION...] FILE");
  if (optind + 1 < argc) return refuse_several(argv + optind + 1, argc - optind - 1);
  options->file = argv[optind];
  if (options->json && !options->order_given) options->order = SITES_BY_TOTAL;
  return 0;
}

/* ---- printing ---- */

static wn_status print_json(const struct report_options *options, const struct report *report) {
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

static wn_status print(const struct report_options *options, const struct recording *recording,
                       bool growing) {
  struct report report;
  wn_status error = load_report(options, recording, &report);
  if (error) return error;
  if (options->json) {
    error = print_json(options, &report);
  } else {
    ascii_if_locale_asks(&stdout);
    error = view_print_text(&(struct view){&report, options, growing});
  }
  report_destroy(&report);
  return error;
}

/* ---- shared ---- */

void report_print_options(FILE *out) { options_print(out, FOR_REPORT); }

int command_report(int argc, char **argv) {
  struct report_options options = {0};
  struct recording *recording = NULL;
  struct input input;
  char text[512];
  int code = parse(&options, argc, argv);
  if (code) return code;
  if (!input_open(&input, options.file)) return fail_job("%s", wn_last_error());
  bool growing = input_is_growing(input_path(&input));
  wn_status error = load_recording(input_path(&input), &options.recording, &recording);
  if (!error) error = print(&options, recording, growing);
  recording_free(recording);
  input_close(&input);
  return error == WN_EINVAL ? fail_usage("report", "%s", wn_last_error())
         : error            ? fail_job("%s", input_error(&input, text))
                            : 0;
}
/* SPDX-License-Identifier: MIT */
