/* winnow report: options, and the numbers that both outputs need. */
#include "cli/report.h"

#include "base/error.h"
#include "cli/ascii.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/text.h"
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NO_SYMBOLS = 256, DEBUGINFOD, SEARCH, WRAPPER, SHOW_WRAPPERS, LIST_MOST = 16, TOP = 10 };

/* Values of options that may be repeated. */
static const char *search[LIST_MOST + 1], *wrappers[LIST_MOST + 1];

static int parse_at(struct report_options *options, const char *text) {
  double ns;
  options->at_text = text;
  if (!strcmp(text, "peak")) return options->at = AT_PEAK, 0;
  if (!strcmp(text, "end")) return options->at = AT_END, 0;
  if (!query_time(text, &ns) || ns > 1e18)
    return fail_usage("report", "--at %s: it must be peak, end, or a time with its unit, such as 1.5s", text);
  options->at = AT_TIME;
  options->at_ns = (uint64_t)ns;
  return 0;
}

static int parse_by(struct report_options *options, const char *text) {
  static const char *const names[] = {"function", "line", "file", "module", "stack"};
  for (int i = 0; i < 5; i++)
    if (!strcmp(text, names[i])) return options->grouping = (enum grouping)i, 0;
  return fail_usage("report", "--by %s: it must be function, line, file, module or stack", text);
}

static int parse_top(struct report_options *options, const char *text) {
  char *end;
  long top = strtol(text, &end, 10);
  if (!*text || *end || top < 1 || top > 1000000)
    return fail_usage("report", "--top %s: it must be a number from 1 up", text);
  options->top = (size_t)top;
  return 0;
}

static int add_to(const char *list[LIST_MOST + 1], const char *option, const char *value) {
  for (int i = 0; i < LIST_MOST; i++)
    if (!list[i]) return list[i] = value, 0;
  return fail_usage("report", "%s can be given %d times at most", option, LIST_MOST);
}

static int parse_search(const char *folder) {
  struct stat found;
  if (stat(folder, &found)) return fail_usage("report", "--search %s: %s", folder, strerror(errno));
  if (!S_ISDIR(found.st_mode)) return fail_usage("report", "--search %s: it is not a folder", folder);
  return add_to(search, "--search", folder);
}

static int parse_sort(struct report_options *options, const char *text) {
  static const char *const names[] = {[SITES_BY_SELF] = "self",
                                      [SITES_BY_TOTAL] = "total",
                                      [SITES_BY_BLOCKS] = "blocks",
                                      [SITES_BY_SAMPLES] = "samples"};
  for (int i = 0; i < 4; i++)
    if (!strcmp(text, names[i])) return options->order = (enum sites_order)i, options->order_given = true, 0;
  return fail_usage("report", "--sort %s: it must be self, total, blocks or samples", text);
}

static int parse_option(struct report_options *options, int option) {
  switch (option) {
  case 'a': return parse_at(options, optarg);
  case 'b': return parse_by(options, optarg);
  case 'w': options->where = optarg; return 0;
  case 'n': return parse_top(options, optarg);
  case 't': options->tree = true; return 0;
  case 'j': options->json = true; return 0;
  case NO_SYMBOLS: options->names.symbols = false; return 0;
  case DEBUGINFOD: options->names.debuginfod = true; return 0;
  case SEARCH: return parse_search(optarg);
  case 's': return parse_sort(options, optarg);
  case WRAPPER: return add_to(wrappers, "--wrapper", optarg);
  case SHOW_WRAPPERS: options->wrappers.none = true; return 0;
  default: return EXIT_USAGE;
  }
}

/* Words that name no file are a mistake of another kind. */
static int refuse_several(char **more, int count) {
  for (int i = 0; i < count; i++)
    if (access(more[i], F_OK)) return fail_usage("report", "one trace at a time; what is '%s'?", more[i]);
  return fail_usage("report", "one trace at a time; 'winnow info FILE...' tells several apart");
}

static int parse(struct report_options *options, int argc, char **argv) {
  static const struct option known[] = {{"at", required_argument, NULL, 'a'},
                                        {"by", required_argument, NULL, 'b'},
                                        {"where", required_argument, NULL, 'w'},
                                        {"top", required_argument, NULL, 'n'},
                                        {"tree", no_argument, NULL, 't'},
                                        {"json", no_argument, NULL, 'j'},
                                        {"no-symbols", no_argument, NULL, NO_SYMBOLS},
                                        {"debuginfod", no_argument, NULL, DEBUGINFOD},
                                        {"search", required_argument, NULL, SEARCH},
                                        {"sort", required_argument, NULL, 's'},
                                        {"wrapper", required_argument, NULL, WRAPPER},
                                        {"show-wrappers", no_argument, NULL, SHOW_WRAPPERS},
                                        {0}};
  int option;
  opterr = 0;
  while ((option = getopt_long(argc, argv, ":a:b:w:n:s:tj", known, NULL)) != -1) {
    bool wrong = option == '?' || option == ':';
    int code = wrong ? fail_option("report", option, argv, known) : parse_option(options, option);
    if (code) return code;
  }
  if (optind == argc || !*argv[optind])
    return fail_usage("report", "which trace? usage: winnow report [OPTION...] FILE");
  if (optind + 1 < argc) return refuse_several(argv + optind + 1, argc - optind - 1);
  options->file = argv[optind];
  if (options->json && !options->order_given) options->order = SITES_BY_TOTAL;
  return 0;
}

/* A block still alive at the end has lived at least until then. */
static uint64_t life_of(const struct report *report, const struct row *row) {
  uint64_t died = row->died_ns == STILL_ALIVE ? report->samples->end_ns : row->died_ns;
  return died > row->born_ns ? died - row->born_ns : 0;
}

static bool is_brief(const struct row *row, void *context) {
  const struct report *report = context;
  return row->died_ns != STILL_ALIVE && report_takes(row, context) && life_of(report, row) < report->brief_ns;
}

static wn_status load(struct report *report, const char *path) {
  struct progress progress;
  const struct report_options *options = report->options;
  progress_begin(&progress, "Reading");
  wn_status error = samples_load(path, progress_show, &progress, &report->samples);
  progress_end(&progress);
  if (error) return error;
  progress_begin(&progress, "Looking up names");
  error = names_resolve(report->samples, &options->names, progress_show, &progress, &report->names);
  progress_end(&progress);
  if (!error) error = wrappers_find(report->samples, &report->names, &options->wrappers, &report->wrappers);
  if (error || !report->query) return error;
  return query_bind(report->query, report->samples, &report->names);
}

static wn_status compute(struct report *report) {
  const struct samples *samples = report->samples;
  double rate = source_run(samples->source)->rate;
  report->byte_unit =
      rate > 0 && rate < 1 ? samples->word_bytes / rate : 0; /* at rate 1 nothing can have been missed */
  report->brief_ns = samples->end_ns / 100;
  report->long_ns = samples->end_ns / 2;
  report->allocated = timeline_allocated(samples, report_takes, report);
  report->live_at_end = timeline_live_at(samples, samples->end_ns, report_takes, report);
  report->brief = timeline_allocated(samples, is_brief, report);
  report->collected = samples->collected;
  report->generations = generations_of_all(samples, report_takes, report);
  wn_status error = peak_find(samples, report_takes, report, &report->peak);
  if (error) return error;
  report->asked = (struct moment){report->peak.median_ns, report->peak.live};
  if (report->options->at == AT_PEAK) return WN_OK;
  report->asked.time_ns = report->options->at == AT_END ? samples->end_ns : report->options->at_ns;
  if (report->asked.time_ns > samples->end_ns)
    return error_set(WN_EINVAL, "--at %s is after the end of the trace", report->options->at_text);
  report->asked.live = timeline_live_at(samples, report->asked.time_ns, report_takes, report);
  return WN_OK;
}

static void destroy(struct report *report) {
  wrappers_destroy(&report->wrappers);
  names_destroy(&report->names);
  samples_free(report->samples);
  query_free(report->query);
}

/* JSON has both kinds of lives wherever there is one; in the text there is no room for both. */
static wn_status prepare_lives(const struct report *report, struct table *table) {
  bool both = report->options->json && table_has_generations(table->kind);
  wn_status error = WN_OK;
  if (both || table->kind == TABLE_LIVES)
    error = lifetimes_create(report->samples, &table->tree, LIFE_NS, &table->lifetimes);
  if (!error && (both || table->kind == TABLE_ALLOCATED))
    error = lifetimes_create(report->samples, &table->tree, LIFE_WORDS, &table->word_lives);
  return error;
}

static wn_status prepare_generations(struct table *table) {
  table->inside = calloc(table->tree.node_count, sizeof *table->inside);
  return table->inside ? WN_OK : error_set(WN_ENOMEM, "not enough memory for the tables");
}

/* ---- shared ---- */

bool report_takes(const struct row *row, void *context) {
  const struct report *report = context;
  return !report->query || query_takes(report->query, row);
}

bool report_held(const struct row *row, struct share *share, void *context) {
  const struct report *report = context;
  *share = share_block(row);
  bool held = report->options->at == AT_PEAK ? peak_holds(&report->peak, row, &share->weight)
                                             : row_is_live_at(row, report->asked.time_ns);
  return held && report_takes(row, context);
}

bool report_allocated(const struct row *row, struct share *share, void *context) {
  *share = share_call(row);
  return report_takes(row, context);
}

/* All rows that might have been promoted belong to their groups, so that these know the share that was. */
bool report_promoted(const struct row *row, struct share *share, void *context) {
  *share = share_block(row);
  share->apart = row->promoted_ns == NEVER;
  return row->area == AREA_MINOR && report_takes(row, context);
}

bool report_churn(const struct row *row, struct share *share, void *context) {
  return report_allocated(row, share, context) && is_brief(row, context);
}

bool report_alive(const struct row *row, struct share *share, void *context) {
  *share = share_block(row);
  return row->end_ns == STILL_ALIVE && report_takes(row, context);
}

bool report_lasting(const struct row *row, struct share *share, void *context) {
  *share = share_block(row);
  return row->last && life_of(context, row) >= ((const struct report *)context)->long_ns &&
         report_takes(row, context);
}

bool report_peak_is_one(const struct report *report) {
  return report->peak.last_ns - report->peak.first_ns <= report->samples->end_ns / 100;
}

struct estimate report_bytes(const struct report *report, const struct sums *sums) {
  return estimate_of(&sums->bytes, report->byte_unit);
}

struct estimate report_blocks(const struct report *report, const struct sums *sums) {
  return count_of(&sums->blocks, &report->allocated.blocks, source_run(report->samples->source)->rate);
}

struct estimate report_per_second(const struct report *report, const struct estimate *total) {
  double seconds = (double)report->samples->end_ns / 1e9;
  if (seconds <= 0) return (struct estimate){.samples = total->samples};
  return (struct estimate){total->estimate / seconds, total->low / seconds, total->high / seconds,
                           total->samples, total->few_blocks};
}

struct estimate report_share(const struct report *report, const struct sums *part, const struct sums *whole) {
  return share_of(&part->bytes, &whole->bytes, report->byte_unit);
}

struct estimate report_promoted_share(const struct report *report, const struct generations *generations) {
  return report_share(report, &generations->promoted, &generations->minor);
}

struct estimate report_dead_share(const struct report *report, const struct generations *generations) {
  return report_share(report, &generations->dead, &generations->settled);
}

wn_status report_table(const struct report *report, question *ask, enum table_kind kind,
                       struct table *table) {
  bool totals = report->options->order == SITES_BY_TOTAL;
  *table = (struct table){.kind = kind, .extent = totals ? EXTENT_TOTAL : EXTENT_SELF};
  wn_status error = call_tree_build(report->samples, &report->names, report->options->grouping, ask,
                                    (void *)report, &table->tree);
  if (error) return error;
  error = prepare_lives(report, table);
  if (!error && table_has_generations(kind)) error = prepare_generations(table);
  if (error) report_table_destroy(table);
  return error;
}

void report_table_destroy(struct table *table) {
  lifetimes_destroy(&table->lifetimes);
  lifetimes_destroy(&table->word_lives);
  free(table->inside);
  call_tree_destroy(&table->tree);
}

wn_status report_sites(const struct report *report, const struct table *table, struct sites *sites) {
  const struct report_options *options = report->options;
  struct sites_options wanted = {.order = options->order,
                                 .most = options->top ? options->top : TOP,
                                 .least = options->top || options->json ? 0 : 0.01,
                                 .every = options->json,
                                 .last = !options->json && table->tree.grouping != BY_STACK};
  return sites_choose(&table->tree, &wanted, sites);
}

void report_group_name(const struct report *report, const struct call_tree *tree, const struct group *group,
                       char *buffer, size_t size) {
  uint32_t label = tree->grouping == BY_STACK ? tree->nodes[group->label].label : group->label;
  call_tree_label(tree, &report->names, label, buffer, size);
}

int command_report(int argc, char **argv) {
  struct report_options options = {.names = {.symbols = true, .search = search},
                                   .wrappers = {.named = wrappers}};
  struct report report = {.options = &options};
  int code = parse(&options, argc, argv);
  if (code) return code;
  if (options.where && query_parse(options.where, &report.query))
    return fail_usage("report", "--where: %s", wn_last_error());
  struct input input;
  char text[512];
  if (!input_open(&input, options.file)) return destroy(&report), fail_job("%s", wn_last_error());
  wn_status error = load(&report, input_path(&input));
  if (!error) error = compute(&report);
  if (!options.json) ascii_if_locale_asks(&stdout);
  if (!error) error = options.json ? report_print_json(&report) : report_print_text(&report);
  destroy(&report);
  input_close(&input);
  return error == WN_EINVAL ? fail_usage("report", "%s", wn_last_error())
         : error            ? fail_job("%s", input_error(&input, text))
                            : 0;
}
/* SPDX-License-Identifier: MIT */
