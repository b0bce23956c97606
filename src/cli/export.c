/* winnow export: loads the recording, asks the report's question, and writes the answer in one
 * of the formats of export/formats.h. */
#include "export/formats.h"

#include "base/error.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/text.h"
#include "sources/files/open.h"
#include <getopt.h>
#include <string.h>
#include <unistd.h>

/* Files in a text format go to standard output unless they have a name; binary ones never go to a
 * terminal, and folders not to standard output. */
static int name_output(struct report_options *options, char name[FILENAME_MAX]) {
  const struct format_kind *format = options->format;
  if (!options->output && format->kind == EXPORT_TEXT) {
    options->output = "-";
  } else if (!options->output) {
    if (!output_name(options->file, format->extension, name))
      return fail_usage("export", "give the output a name with -o FILE");
    options->output = name;
  }
  if (format->kind == EXPORT_FOLDER && !strcmp(options->output, "-"))
    return fail_usage("export", "%s is a folder; give it a name with -o FOLDER", format->name);
  if (format->kind == EXPORT_BINARY && !strcmp(options->output, "-") && isatty(1))
    return fail_usage("export", "%s is binary and nothing for a terminal; give it a name with -o FILE",
                      format->name);
  if (inputs_has_several(options->file) && source_is_trace(options->output))
    return fail_usage("export", "%s is a trace; give the output another name with -o FILE", options->output);
  if (input_is_same_file(options->file, options->output))
    return fail_usage("export", "%s is the trace; give the output another name with -o FILE",
                      options->output);
  return 0;
}

static int export_parse(struct report_options *options, char name[FILENAME_MAX], int argc, char **argv) {
  int code = options_parse(options, FOR_EXPORT, argc, argv);
  if (code) return code;
  if (!options->format)
    return fail_usage("export", "which format? give one with --format; see 'winnow help export'");
  if (optind == argc || !*argv[optind])
    return fail_usage("export", "which trace? usage: winnow export --format FORMAT [OPTION...] FILE...");
  if (!options->format->rows && (options->order_given || options->top))
    return fail_usage("export", "--sort and --top are for formats with rows, and %s has stacks",
                      options->format->name);
  options->files = (const char *const *)argv + optind;
  options->file_count = (size_t)(argc - optind);
  options->file = *options->files;
  return name_output(options, name);
}

/* ---- writing ---- */

/* Unless an order is given, rows are ordered by what is counted. */
static enum sites_order order_of(const struct report_options *options) {
  if (options->order_given) return options->order;
  return quantity_kinds[options->quantity].bytes ? SITES_BY_SELF : SITES_BY_BLOCKS;
}

static wn_status export_write_file(const struct report_options *options, const struct report *report) {
  static const char *const when[] = {"peak", "end"};
  struct export export = {.report = report,
                          .grouping = options->grouping,
                          .grouped = options->grouping_given,
                          .quantity = options->quantity,
                          .order = order_of(options),
                          .top = options->top ? options->top : SIZE_MAX,
                          .at = report->at == AT_TIME ? options->at_text : when[report->at],
                          .moment_given = options->at_text,
                          .where = options->where,
                          .path = options->file};
  struct output output;
  wn_status error = options->format->kind == EXPORT_FOLDER
                        ? output_open_folder(&output, options->output, format_files(options->format))
                        : output_open(&output, options->output);
  if (error) return error;
  export.files = output.folder;
  error = options->format->write(output.file, &export);
  if (error)
    output_abandon(&output);
  else
    error = output_finish(&output);
  return error;
}

/* Appends ": these formats do not: folded, ..." to the message of a format's refusal. */
static wn_status name_other_formats(wn_status error, enum export_needs told) {
  char message[512], names[256] = "";
  for (int i = 0; i < FORMATS; i++) {
    size_t length = strlen(names);
    if (format_kinds[i].needs <= told)
      snprintf(names + length, sizeof names - length, "%s%s", length ? ", " : "", format_kinds[i].name);
  }
  snprintf(message, sizeof message, "%s", wn_last_error());
  return error_set(error, "%s; these formats do not: %s", message, names);
}

static wn_status check_needs(const struct report_options *options, const struct recording *recording) {
  const struct format_kind *format = options->format;
  wn_status error = WN_OK;
  if (format->needs >= EXPORT_BLOCKS) error = load_needs_events(recording, options->file, format->name);
  if (error) return name_other_formats(error, EXPORT_TOTALS);
  if (format->needs >= EXPORT_LIVES) error = load_needs_lives(recording, options->file, format->name);
  if (error) return name_other_formats(error, EXPORT_BLOCKS);
  if (format->needs < EXPORT_EVENTS || recording->samples->process_count < 2) return WN_OK;
  return error_set(WN_EINVAL, "%s has the events of one process: give one trace", format->name);
}

static wn_status export_recording(const struct report_options *options, const struct recording *recording) {
  struct report report;
  wn_status error = check_needs(options, recording);
  if (!error) error = load_report(options, recording, &report);
  if (error) return error;
  error = export_write_file(options, &report);
  report_destroy(&report);
  return error;
}

/* ---- shared ---- */

void export_print_options(FILE *out) {
  options_print(out, FOR_EXPORT);
  fputs("\nFormats:\n", out);
  for (int i = 0; i < FORMATS; i++)
    fprintf(out, "  %-14s %s\n", format_kinds[i].name, format_kinds[i].summary);
}

int command_export(int argc, char **argv) {
  struct report_options options = {0};
  struct recording *recording = NULL;
  char name[FILENAME_MAX];
  int code = export_parse(&options, name, argc, argv);
  if (!code) code = load_files(&options, options.files, options.file_count, &recording);
  if (code) return code;
  load_say_missing(options.file_count == 1 ? options.file : "the recording",
                   source_damage(recording->samples->source));
  wn_status error = export_recording(&options, recording);
  recording_free(recording);
  if (error)
    return error == WN_EINVAL ? fail_usage("export", "%s", wn_last_error()) : fail_job("%s", wn_last_error());
  if (strcmp(options.output, "-") != 0) {
    text_name(stdout, options.output);
    putchar('\n');
  }
  return options.unread ? EXIT_JOB : 0;
}
/* SPDX-License-Identifier: MIT */
