/* winnow report: reads the options, loads the recording, and prints the report as text or JSON. A
 * wrong query fails before the trace is read. */
#include "cli/report.h"

#include "base/error.h"
#include "cli/ascii.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/text.h"
#include "export/report_json.h"
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { JSON_ROWS = 10, LETTERLESS = 256 };

/* ---- options ---- */

static int set_at(struct report_options *options, const char *text) {
  double ns;
  options->at_text = text;
  if (!strcmp(text, "peak")) return options->question.at = AT_PEAK, 0;
  if (!strcmp(text, "end")) return options->question.at = AT_END, 0;
  if (!query_time(text, &ns) || ns > 1e18)
    return fail_usage("report", "--at %s: it must be peak, end, or a time with its unit, such as 1.5s", text);
  options->question.at = AT_TIME;
  options->question.at_ns = (uint64_t)ns;
  return 0;
}

static int set_by(struct report_options *options, const char *text) {
  for (int i = 0; i < GROUPINGS; i++)
    if (!strcmp(text, grouping_name((enum grouping)i))) return options->grouping = (enum grouping)i, 0;
  return fail_usage("report", "--by %s: it must be function, line, file, module or stack", text);
}

static int set_top(struct report_options *options, const char *text) {
  char *end;
  long top = strtol(text, &end, 10);
  if (!*text || *end || top < 1 || top > 1000000)
    return fail_usage("report", "--top %s: it must be a number from 1 up", text);
  options->top = (size_t)top;
  return 0;
}

static int add_to(const char *list[REPORT_LIST_MOST + 1], const char *option, const char *value) {
  for (int i = 0; i < REPORT_LIST_MOST; i++)
    if (!list[i]) return list[i] = value, 0;
  return fail_usage("report", "%s can be given %d times at most", option, REPORT_LIST_MOST);
}

static int set_search(struct report_options *options, const char *folder) {
  struct stat found;
  if (stat(folder, &found)) return fail_usage("report", "--search %s: %s", folder, strerror(errno));
  if (!S_ISDIR(found.st_mode)) return fail_usage("report", "--search %s: it is not a folder", folder);
  return add_to(options->search, "--search", folder);
}

static int set_sort(struct report_options *options, const char *text) {
  for (int i = 0; i < SITES_ORDERS; i++)
    if (!strcmp(text, sites_order_name((enum sites_order)i)))
      return options->order = (enum sites_order)i, options->order_given = true, 0;
  return fail_usage("report", "--sort %s: it must be self, total, blocks or samples", text);
}

static int set_where(struct report_options *options, const char *text) {
  options->question.where = text;
  return 0;
}

static int set_wrapper(struct report_options *options, const char *text) {
  return add_to(options->wrappers, "--wrapper", text);
}

static int set_tree(struct report_options *options, const char *unused) {
  (void)unused;
  options->tree = true;
  return 0;
}

static int set_json(struct report_options *options, const char *unused) {
  (void)unused;
  options->json = true;
  return 0;
}

static int set_show_wrappers(struct report_options *options, const char *unused) {
  (void)unused;
  options->recording.wrappers.none = true;
  return 0;
}

static int set_no_symbols(struct report_options *options, const char *unused) {
  (void)unused;
  options->recording.names.symbols = false;
  return 0;
}

static int set_debuginfod(struct report_options *options, const char *unused) {
  (void)unused;
  options->recording.names.debuginfod = true;
  return 0;
}

/* The options. Letter 0: no short form. Argument NULL: no value. A new option needs a row here, a
 * function, and an entry in the manual. */
static const struct {
  const char *name;
  int letter;
  const char *argument;
  int (*set)(struct report_options *options, const char *text);
  const char *help;
} rows[] = {
    {"at", 'a', "WHEN", set_at, "peak (default), end, or a time since the start: 1.5s, 200ms"},
    {"by", 'b', "WHAT", set_by, "group by function (default), line, file, module or stack"},
    {"where", 'w', "QUERY", set_where,
     "count only some blocks: 'fn ~ \"^parse\" and size > 1K and life < 10ms'"},
    {"sort", 's', "ORDER", set_sort,
     "self (default): by what functions allocate themselves; total: with all they call;\n"
     "blocks or samples: by how many of their own"},
    {"top", 'n', "N", set_top, "rows in each table; default 10, of at least 1 %"},
    {"tree", 't', NULL, set_tree, "print the call tree of what was held"},
    {"json", 'j', NULL, set_json, "print one JSON object (docs/report-json.md)"},
    {"wrapper", 0, "NAME", set_wrapper,
     "pass over this function too: it only allocates for its callers; may be repeated"},
    {"show-wrappers", 0, NULL, set_show_wrappers, "give rows to functions such as xmalloc and operator new"},
    {"no-symbols", 0, NULL, set_no_symbols, "addresses only, no look-up of names"},
    {"debuginfod", 0, NULL, set_debuginfod, "fetch missing debug information from $DEBUGINFOD_URLS"},
    {"search", 0, "DIR", set_search,
     "look for programs, libraries and debug files below DIR too; may be repeated"},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* The options as getopt needs them. An option without a letter has LETTERLESS plus the number of
 * its row. */
struct known {
  struct option options[ROWS + 1];
  char letters[2 * ROWS + 2];
};

static void make_known(struct known *known) {
  char *letters = known->letters;
  *letters++ = ':';
  for (int i = 0; i < ROWS; i++) {
    int takes = rows[i].argument ? required_argument : no_argument, letter = rows[i].letter;
    known->options[i] = (struct option){rows[i].name, takes, NULL, letter ? letter : LETTERLESS + i};
    if (letter) *letters++ = (char)letter;
    if (letter && rows[i].argument) *letters++ = ':';
  }
  known->options[ROWS] = (struct option){0};
  *letters = 0;
}

static int set_option(struct report_options *options, int option) {
  int row = option - LETTERLESS;
  for (int i = 0; i < ROWS; i++)
    if (rows[i].letter == option) row = i;
  return rows[row].set(options, optarg);
}

/* Refuses a second argument. One that is no file is named, since it may be a mistyped option or
 * value. */
static int refuse_several(char **more, int count) {
  for (int i = 0; i < count; i++)
    if (access(more[i], F_OK))
      return fail_usage("report", "one trace at a time, and there is no file '%s'", more[i]);
  return fail_usage("report", "one trace at a time; 'winnow info FILE...' lists several");
}

static int parse(struct report_options *options, int argc, char **argv) {
  struct known known;
  int option;
  make_known(&known);
  opterr = 0;
  while ((option = getopt_long(argc, argv, known.letters, known.options, NULL)) != -1) {
    bool wrong = option == '?' || option == ':';
    int code = wrong ? fail_option("report", option, argv, known.options) : set_option(options, option);
    if (code) return code;
  }
  if (optind == argc || !*argv[optind])
    return fail_usage("report", "which trace? usage: winnow report [OPTION...] FILE");
  if (optind + 1 < argc) return refuse_several(argv + optind + 1, argc - optind - 1);
  options->file = argv[optind];
  if (options->json && !options->order_given) options->order = SITES_BY_TOTAL;
  return 0;
}

/* ---- loading ---- */

/* Progress of loading. Its stages share one line of a terminal. */
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

static wn_status load(const struct report_options *options, const char *path, struct recording **recording) {
  struct stages stages = {.doing = NULL};
  struct recording_options wanted = options->recording;
  wanted.names.search = options->search;
  wanted.wrappers.named = options->wrappers;
  wanted.progress = show_stage;
  wanted.progress_context = &stages;
  wn_status error = recording_load(path, &wanted, recording);
  if (stages.doing) progress_end(&stages.progress);
  return error;
}

/* ---- printing ---- */

static wn_status print_json(const struct report_options *options, const struct report *report) {
  static const char *const when[] = {"peak", "end"};
  struct report_json_options json = {
      .grouping = options->grouping,
      .order = options->order,
      .top = options->top ? options->top : JSON_ROWS,
      .at = report->at == AT_TIME ? options->at_text : when[report->at],
      .where = options->question.where,
  };
  return report_write_json(stdout, report, &json);
}

static wn_status print(const struct report_options *options, const struct recording *recording) {
  const struct question *question = &options->question;
  struct report report;
  if (question->at == AT_TIME && question->at_ns > recording->samples->end_ns)
    return error_set(WN_EINVAL, "--at %s is after the end of the trace", options->at_text);
  wn_status error = report_ask(recording, question, &report);
  if (error) return error;
  if (options->json) {
    error = print_json(options, &report);
  } else {
    ascii_if_locale_asks(&stdout);
    error = view_print_text(&(struct view){&report, options});
  }
  report_destroy(&report);
  return error;
}

/* Checks the query before a large trace is read. */
static int check_query(const char *where) {
  struct query *query = NULL;
  if (where && query_parse(where, &query)) return fail_usage("report", "--where: %s", wn_last_error());
  query_free(query);
  return 0;
}

/* ---- shared ---- */

void report_print_options(FILE *out) {
  enum { HELP_COLUMN = 25 };
  for (int i = 0; i < ROWS; i++) {
    char letter[5] = "    ", names[40];
    if (rows[i].letter) snprintf(letter, sizeof letter, "-%c, ", rows[i].letter);
    snprintf(names, sizeof names, "%s--%s %s", letter, rows[i].name,
             rows[i].argument ? rows[i].argument : "");
    fprintf(out, "  %-*s", HELP_COLUMN - 2, names);
    for (const char *line = rows[i].help; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
      fprintf(out, "%*s%.*s\n", line == rows[i].help ? 0 : HELP_COLUMN, "", (int)strcspn(line, "\n"), line);
  }
}

int command_report(int argc, char **argv) {
  struct report_options options = {.recording.names.symbols = true};
  struct recording *recording = NULL;
  struct input input;
  char text[512];
  int code = parse(&options, argc, argv);
  if (!code) code = check_query(options.question.where);
  if (code) return code;
  if (!input_open(&input, options.file)) return fail_job("%s", wn_last_error());
  wn_status error = load(&options, input_path(&input), &recording);
  if (!error) error = print(&options, recording);
  recording_free(recording);
  input_close(&input);
  return error == WN_EINVAL ? fail_usage("report", "%s", wn_last_error())
         : error            ? fail_job("%s", input_error(&input, text))
                            : 0;
}
/* SPDX-License-Identifier: MIT */
