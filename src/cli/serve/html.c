/* winnow html: loads the recording, or two to compare, and writes a page. If the page would be too
 * large, it keeps a part of the samples. */
#include "page/html.h"

#include "analysis/load/reduce.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/report/diff.h"
#include "cli/report/report.h"
#include "cli/serve/page_address.h"
#include "cli/text.h"
#include "page/first_answers.h"
#include "sources/files/open.h"
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The largest page unless the user gives another size, and the largest of all. */
static const double usual_bytes = 16e6, most_bytes = 64e6;

/* How often the samples are thinned at most. Mostly once is enough; but the fewer the samples, the
 * more bytes each takes. */
enum { TRIES = 6 };

/* ---- options ---- */

static int name_page(struct report_options *options, char name[FILENAME_MAX]) {
  if (options->output) return 0;
  if (!output_name(options->file, ".html", name))
    return fail_usage("html", "give the page a name with -o FILE");
  options->output = name;
  return 0;
}

static int html_parse(struct report_options *options, char name[FILENAME_MAX], int argc, char **argv) {
  int code = options_parse(options, FOR_HTML, argc, argv);
  if (code) return code;
  if (optind == argc || !*argv[optind])
    return fail_usage("html", "which trace? usage: winnow html [OPTION...] [BEFORE] FILE");
  if (optind + 2 < argc) return fail_usage("html", "a page has one trace, or two that it compares");
  if (options->full && options->most_bytes > 0)
    return fail_usage("html", "--full keeps all samples, and --max-size does not: give one of them");
  inputs_trim(argv + optind, argc - optind);
  options->file = argv[argc - 1];
  options->other = optind + 1 < argc ? argv[optind] : NULL;
  code = name_page(options, name);
  if (code) return code;
  if (!strcmp(options->output, "-") && isatty(1))
    return fail_usage("html", "a page is nothing for a terminal; give it a name with -o FILE");
  if (inputs_has_several(options->file) && source_is_trace(options->output))
    return fail_usage("html", "%s is a trace; give the page another name with -o FILE", options->output);
  if (input_is_same_file(options->file, options->output) ||
      (options->other && input_is_same_file(options->other, options->output)))
    return fail_usage("html", "%s is the trace; give the page another name with -o FILE", options->output);
  return 0;
}

/* ---- the page's text ---- */

struct page {
  const struct report_options *options;
  struct recording *recording, *before; /* before: the page compares; or NULL */
  struct output output;
  struct html_options html;
  struct html_size size;
};

static wn_status ask_single(const struct report_options *options, const struct recording *recording,
                            struct report *report) {
  struct question question = {.where = options->where,
                              .at = load_moment(options, recording),
                              .at_ns = options->when[0].ns,
                              .closing = true};
  return report_ask(recording, &question, report);
}

static wn_status print_single(const struct report_options *options, const struct recording *recording) {
  struct report report;
  wn_status error = ask_single(options, recording, &report);
  if (error) return error;
  struct report_options whole = *options;
  whole.all = true;
  error = view_print_text(&report, &whole);
  report_destroy(&report);
  return error;
}

static wn_status print_comparison(const struct report_options *options, const struct recording *before,
                                  const struct recording *after) {
  struct question question = {
      .where = options->where, .at = options->when[0].at, .at_ns = options->when[0].ns};
  struct report_options whole = *options;
  struct diff diff = {.options = &whole};
  whole.all = true;
  if (load_asks_end(options, before, after)) question.at = AT_END;
  wn_status error = pair_of_runs(before, &question, after, &question, PER_EITHER, &diff.pair);
  if (error) return error;
  error = diff_find_facts(&diff);
  if (!error) error = diff_print_text(&diff);
  pair_destroy(&diff.pair);
  return error;
}

static wn_status html_check_time(const struct report_options *options, const struct recording *recording) {
  const struct when_asked *when = &options->when[0];
  if (!recording || when->at != AT_TIME || when->ns <= recording->samples->end_ns) return WN_OK;
  return load_refuse_time(options, recording->samples->end_ns);
}

/* In place of a report, whose words are those of functions that allocate. */
static void print_snapshot(const struct page *page) {
  text_paragraph(stdout, source_limits(page->recording->samples->source)->note, 0);
  fputs("\nAs text: winnow heap ", stdout);
  if (page->before) text_file(stdout, page->options->other), putchar(' ');
  text_file(stdout, page->options->file), putchar('\n');
}

/* The text report, or the comparison. The caller frees it. */
static wn_status print_report(const struct page *page, char **text) {
  size_t size;
  wn_status error = html_check_time(page->options, page->recording);
  if (!error) error = html_check_time(page->options, page->before);
  if (error) return error;
  FILE *terminal = stdout, *memory = open_memstream(text, &size);
  if (!memory) return error_set(WN_ENOMEM, "not enough memory for the report");
  text_for_file();
  stdout = memory;
  if (load_is_snapshot(page->recording))
    print_snapshot(page);
  else
    error = page->before ? print_comparison(page->options, page->before, page->recording)
                         : print_single(page->options, page->recording);
  stdout = terminal;
  if (fclose(memory) && !error) error = error_set(WN_ENOMEM, "not enough memory for the report");
  return error;
}

/* ---- writing ---- */

static wn_status html_write_file(struct page *page) {
  struct progress progress;
  progress_begin(&progress, "Writing");
  page->html.progress = progress_show;
  page->html.progress_context = &progress;
  wn_status error = html_write(page->output.file, page->recording, page->before, &page->html, &page->size);
  progress_end(&progress);
  if (error != WN_EIO) return error;
  char why[128];
  snprintf(why, sizeof why, "%s", wn_last_error());
  return error_set(WN_EIO, "cannot write %s: %s", page->output.name, why);
}

/* Writes the page of the recording as it is now. The text and the first answers are those of the
 * samples that are in the page. */
static wn_status write_once(struct page *page) {
  char *text = NULL;
  struct container_section first[FIRST_SECTIONS];
  wn_status error = print_report(page, &text);
  if (error) goto free_text;
  error = first_answers(page->recording, page->before, load_moment(page->options, page->recording),
                        page->options->grouping, first);
  if (error) goto free_text;
  page->html.text = text;
  page->html.extras = first;
  page->html.extra_count = FIRST_SECTIONS;
  error = html_write_file(page);
  first_answers_free(first);
free_text:
  free(text);
  return error;
}

/* The share of samples with which the page would be a little smaller than wanted. Names and stacks
 * become fewer too, but not in proportion. */
static double share_for(const struct html_size *size, double wanted) {
  double rest = (double)(size->bytes - size->rows),
         fits = (0.92 * wanted - rest) / fmax((double)size->rows, 1);
  return fmin(fmax(fits, 0.4 * wanted / (double)size->bytes), 0.95);
}

static wn_status too_large(const struct page *page) {
  char size[32], limit[32];
  text_bytes(size, (double)page->size.bytes);
  if (page->options->full)
    return error_set(WN_ELIMIT,
                     "the page would have %s, too much for a browser (%s at most): leave out --full, and it "
                     "keeps as many samples as fit",
                     size, text_bytes(limit, most_bytes));
  return error_set(WN_ELIMIT, "the page needs %s, even with few samples; give it more room with --max-size",
                   size);
}

static bool is_exact(const struct recording *recording) {
  return !recording || recording->samples->row_count <= CONTAINER_EXACT_ROWS;
}

static wn_status round_times(struct page *page) {
  bool exact = is_exact(page->recording) && is_exact(page->before);
  page->html.container.unit_ns = exact ? 1 : CONTAINER_UNIT_NS;
  if (exact) return WN_OK;
  wn_status error = recording_round(page->recording, CONTAINER_UNIT_NS);
  if (!error && page->before) error = recording_round(page->before, CONTAINER_UNIT_NS);
  return error;
}

/* Both of two recordings keep the same share, so that one is not known better than the other. */
static wn_status thin(struct page *page, double share, uint64_t seed) {
  wn_status error = recording_thin(page->recording, share, seed);
  if (!error && page->before) error = recording_thin(page->before, share, seed + TRIES);
  return error;
}

static wn_status html_write_page(struct page *page) {
  double wanted = page->options->full             ? most_bytes
                  : page->options->most_bytes > 0 ? page->options->most_bytes
                                                  : usual_bytes;
  wn_status error = round_times(page);
  if (!error) error = output_open(&page->output, page->options->output);
  if (!error && page->options->recording.lines) output_make_private(&page->output);
  if (!error) error = write_once(page);
  for (int try = 1; !error && (double)page->size.bytes > wanted; try++) {
    if (page->options->full || try > TRIES) return too_large(page);
    error = thin(page, share_for(&page->size, wanted), (uint64_t)try);
    if (!error) error = output_restart(&page->output);
    if (!error) error = write_once(page);
  }
  return error;
}

/* A page with source is not for everybody. */
static void print_source(const struct listing *listing) {
  size_t files = 0;
  for (size_t i = 0; i < listing->file_count; i++) files += listing->files[i].state <= LISTED_CHANGED;
  if (files)
    printf("; it has lines of %zu source file%s, and is as confidential", files, files == 1 ? "" : "s");
  else if (listing->given)
    fputs("; no source file was found below the current folder or those of --search", stdout);
}

/* Prints the path and the size, and which part of the samples is in the page. */
static void print_result(const struct page *page) {
  char size[32], part[32];
  double kept = page->recording->kept;
  if (!strcmp(page->output.name, "-")) return;
  text_name(stdout, page->output.name);
  printf(" (%s)", text_bytes(size, (double)page->size.bytes));
  if (kept < 1) printf(": %s kept; intervals are wider (--full keeps all)", text_part_of_samples(part, kept));
  print_source(&page->recording->listing);
  putchar('\n');
}

static wn_status html_make_page(const struct report_options *options, struct recording *recording,
                                struct recording *before) {
  struct page page = {.options = options, .recording = recording, .before = before};
  wn_status error = load_refuse_unlike(options->other, before, options->file, recording);
  if (!error) error = load_check_moment(options, 0, recording, options->file);
  if (!error && before) error = load_check_moment(options, 0, before, options->other);
  if (error) return error;
  char *address = page_address(options, load_moment(options, recording));
  page.html.head = page_head(options, address, false);
  error = html_write_page(&page);
  if (error)
    output_abandon(&page.output);
  else
    error = output_finish(&page.output);
  if (!error) print_result(&page);
  free(address);
  return error;
}

static void say_missing(const char *name, const struct recording *recording) {
  if (recording) load_say_missing(name, source_damage(recording->samples->source));
}

/* ---- shared ---- */

void html_print_options(FILE *out) { options_print(out, FOR_HTML); }

int command_html(int argc, char **argv) {
  struct report_options options = {0};
  struct recording *recording = NULL, *before = NULL;
  char name[FILENAME_MAX];
  int code = html_parse(&options, name, argc, argv);
  if (code) return code;
  if (options.other) code = load_file(&options, options.other, &before);
  if (!code) code = load_file(&options, options.file, &recording);
  if (!code) {
    say_missing(options.other, before);
    say_missing(options.file, recording);
    wn_status error = html_make_page(&options, recording, before);
    if (!error && before) load_warn_of_pair(options.other, before, options.file, recording);
    if (error)
      code = error == WN_EINVAL ? fail_usage("html", "%s", wn_last_error()) : fail_job("%s", wn_last_error());
  }
  recording_free(recording);
  recording_free(before);
  return code || !options.unread ? code : EXIT_JOB;
}
/* SPDX-License-Identifier: MIT */
