/* Prints all that `winnow report --all` says: the facts, a line each with its interval, then what is no
 * number, then charts and tables. Numbers have intervals, except in a trace with every block, and except
 * for what was held in a trace with missing records.
 */
#include "cli/report/report_text.h"

#include "analysis/report/resident.h"
#include "base/text.h"
#include "cli/report/report.h"
#include "cli/report/report_callers.h"
#include "cli/report/report_facts.h"
#include "cli/report/report_name.h"
#include "cli/report/screen.h"
#include "cli/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WRAPPERS_NAMED = 6, WRAPPER_COLUMNS = 44 };

/* ---- what is no number ---- */

static bool has_lives(const struct view *view) {
  return !source_limits(view->report->samples->source)->no_lives;
}

static void say_run(struct paragraph *paragraph, const struct view *view) {
  const struct samples *samples = view->report->samples;
  const char *note = source_limits(samples->source)->note;
  if (*note)
    say(paragraph, "%s", note);
  else if (report_has_processes(view))
    report_say_ends(paragraph, view);
  else if (source_is_foreign(samples->source))
    say(paragraph,
        "The trace is of %s, which records no collections, no size of the heap and no end of the program; "
        "its last moments may be missing.",
        source_run(samples->source)->writer.bytes);
}

static void print_run(const struct view *view) {
  struct paragraph paragraph = {.length = 0};
  say_run(&paragraph, view);
  if (!paragraph.length) return;
  putchar('\n');
  text_paragraph(stdout, paragraph.text + strspn(paragraph.text, " "), 0);
}

/* ---- phrases that the parts of the report share ---- */

void say(struct paragraph *paragraph, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  size_t room = sizeof paragraph->text - paragraph->length;
  int written = vsnprintf(paragraph->text + paragraph->length, room, format, arguments);
  va_end(arguments);
  if (written > 0) paragraph->length += (size_t)written < room ? (size_t)written : room - 1;
}

/* `what`: what the sums count, "block" or "call". */
static void say_amount_of(struct paragraph *paragraph, const struct view *view, const struct sums *sums,
                          const char *what) {
  struct estimate bytes = report_bytes(view->report, sums), blocks = report_blocks(view->report, sums);
  char range[64], number[160], value[32];
  if (!bytes.samples && bytes.high > 0) {
    say(paragraph, "less than %s", text_bytes(value, bytes.high));
    return;
  }
  say(paragraph, "%s", text_bytes(value, bytes.estimate));
  if (bytes.low != bytes.high) say(paragraph, " (%s)", text_range(range, &bytes));
  if (source_limits(view->report->samples->source)->no_blocks) return;
  say(paragraph, " in %s", text_estimated_number(number, &blocks, what));
}

void say_program_name(struct paragraph *paragraph, const struct view *view) {
  const struct trace_run *run = source_run(view->report->samples->source);
  const char *command = run->command.length && run->command.bytes[0] ? run->command.bytes : "The program";
  int title = process_name_title(run);
  if (report_has_processes(view))
    report_say_processes(paragraph, view->report->samples);
  else if (title)
    say(paragraph, "%.*s", title, run->title.bytes);
  else
    say(paragraph, "%s", command_name(command));
}

void report_print_wrappers(const struct view *view) {
  struct paragraph paragraph = {.length = 0};
  char fitted[WRAPPERS_NAMED][256];
  size_t named = 0, more = 0;
  for (size_t i = 0; i < view->report->recording->wrappers.count; i++) {
    char name[256];
    size_t same = 0;
    name_fit_paragraph(
        name, sizeof name,
        strings_text(view->report->names->strings, view->report->recording->wrappers.functions[i]),
        WRAPPER_COLUMNS, 0);
    while (same < named && strcmp(fitted[same], name) != 0) same++;
    if (same == named && named < WRAPPERS_NAMED)
      strcpy(fitted[named++], name);
    else
      more += same == named;
  }
  const bool *found = view->report->recording->wrappers.interpreters;
  bool any = false;
  for (int i = 0; i < INTERPRETERS; i++) any |= found[i];
  if (!named && !any) return;
  say(&paragraph, "Passed over, since they only allocate for their callers: ");
  for (size_t i = 0; i < named; i++) say(&paragraph, "%s%s", i ? ", " : "", fitted[i]);
  if (more) say(&paragraph, " and %zu more", more);
  for (int i = 0; i < INTERPRETERS; i++)
    if (found[i]) say(&paragraph, "%s%s", named++ ? "; " : "", report_interpreters[i]);
  say(&paragraph, " (--show-wrappers gives them rows).");
  putchar('\n');
  text_paragraph(stdout, paragraph.text, 0);
}

void say_amount(struct paragraph *paragraph, const struct view *view, const struct sums *sums) {
  say_amount_of(paragraph, view, sums, "block");
}

void say_allocated(struct paragraph *paragraph, const struct view *view, const struct sums *sums) {
  bool calls = !view->report->samples->collected && !source_limits(view->report->samples->source)->totals;
  say_amount_of(paragraph, view, sums, calls ? "call" : "block");
}

/* ---- resident memory: tables of the functions that mapped it, or whose threads' stacks it is ---- */

enum { MAPPED_ROWS = 10, NAME_MOST = 4096, WIDTH_BYTES = 9, WIDTH_COUNT = 9 };

/* Mappings and stacks below this share of resident memory have no table. */
static const double worth_a_table = 0.01;

/* The columns of a table. A table of stacks has no mapped size, which says nothing about stacks; a
 * table of mappings has no resident size if that could not be measured. */
struct layout {
  bool resident, mapped;
  const char *what, *who;
};
static const struct layout stacks_layout = {true, false, "stacks", "  started by"};

static void print_amounts(const struct sums *sums, const struct layout *layout) {
  char text[32];
  if (layout->resident) text_pad(stdout, text_bytes(text, sums->bytes.total), -WIDTH_BYTES);
  if (layout->mapped) text_pad(stdout, text_bytes(text, sums->blocks.total), -WIDTH_BYTES);
  text_pad(stdout, text_count(text, (double)sums->bytes.samples), -WIDTH_COUNT);
  fputs("  ", stdout);
}

static int room_for_names(const struct layout *layout) {
  return text_width() - (layout->resident + layout->mapped) * WIDTH_BYTES - WIDTH_COUNT - 2;
}

static void report_resident_print_site(const struct view *view, const struct call_tree *tree,
                                       const struct group *group, struct chains *chains,
                                       const struct layout *layout) {
  struct paragraph paragraph = {.length = 0};
  char name[NAME_MOST], fitted[NAME_MOST];
  struct chain chain;
  chains_follow(chains, group, &chain);
  call_tree_label(tree, view->report->names, group->label, name, sizeof name);
  if (strcmp(name, "main")) report_say_callers(&paragraph, view, tree, &chain, 0);
  print_amounts(&group->self, layout);
  int room = room_for_names(layout);
  name_fit(fitted, sizeof fitted, name, (size_t)room);
  bool beside = (int)(text_columns(fitted) + text_columns(paragraph.text)) <= room;
  text_name(stdout, fitted);
  if (beside) text_name(stdout, paragraph.text);
  putchar('\n');
  if (!beside && paragraph.length) text_paragraph(stdout, paragraph.text + 1, CALLERS_INDENT);
}

static wn_status report_resident_choose(const struct view *view, const struct call_tree *tree,
                                        struct sites *sites) {
  struct sites_options options = {.order = SITES_BY_SELF,
                                  .most = view->options->top ? view->options->top : MAPPED_ROWS,
                                  .least = view->options->top ? 0 : 0.01,
                                  .last = true};
  return sites_choose(tree, &options, sites);
}

static wn_status report_resident_print_sites(const struct view *view, const struct call_tree *tree,
                                             const struct layout *layout) {
  struct chains chains;
  struct sites sites;
  wn_status error = report_resident_choose(view, tree, &sites);
  if (error) return error;
  if (!(error = chains_create(tree, &chains))) {
    text_style(stdout, STYLE_DIM);
    if (layout->resident) text_pad(stdout, "resident", -WIDTH_BYTES);
    if (layout->mapped) text_pad(stdout, "mapped", -WIDTH_BYTES);
    text_pad(stdout, layout->what, -WIDTH_COUNT);
    fputs(layout->who, stdout);
    text_style(stdout, STYLE_PLAIN);
    putchar('\n');
    for (size_t i = 0; i < sites.count; i++)
      report_resident_print_site(view, tree, sites.shown[i].group, &chains, layout);
    if (sites.rest_count) {
      print_amounts(&sites.rest, layout);
      report_print_rest(sites.rest_count, "function", sites.count + sites.rest_count, room_for_names(layout));
    }
    chains_destroy(&chains);
  }
  sites_destroy(&sites);
  return error;
}

static wn_status report_resident_print_table(const struct view *view, const struct resident *resident) {
  struct call_tree tree;
  struct paragraph title = {.length = 0};
  char time[32], bytes[32], more[32];
  const struct layout layout = {resident->measured, true, "mappings", "  mapped by"};
  double touched = resident->mapped_private + resident->mapped_files;
  wn_status error = resident_tree(view->report, resident, RESIDENT_MAPPINGS, view->options->grouping, &tree);
  if (error) return error;
  say(&title, "Mapped by the program itself, outside malloc, after %s: %s",
      text_time(time, resident->time_ns), text_bytes(bytes, resident->mapped_bytes));
  if (resident->measured)
    say(&title, ", of which %s was resident", text_bytes(more, touched));
  else
    say(&title, "; how much of it was resident could not be measured");
  putchar('\n');
  report_print_title(title.text);
  if (tree.group_count) error = report_resident_print_sites(view, &tree, &layout);
  call_tree_destroy(&tree);
  return error;
}

static wn_status report_resident_print_stacks(const struct view *view, const struct resident *resident) {
  struct call_tree tree;
  struct paragraph title = {.length = 0};
  char time[32], bytes[32];
  wn_status error = resident_tree(view->report, resident, RESIDENT_STACKS, view->options->grouping, &tree);
  if (error) return error;
  say(&title,
      "Stacks of threads, after %s: %s was resident; that of the first thread is listed by what used it",
      text_time(time, resident->time_ns), text_bytes(bytes, resident->stack_bytes));
  putchar('\n');
  report_print_title(title.text);
  if (tree.group_count) error = report_resident_print_sites(view, &tree, &stacks_layout);
  call_tree_destroy(&tree);
  return error;
}

/* Prints a line, and tables of the program's own mappings and the threads' stacks if these are
 * large. Prints nothing if memory was never measured. */
static wn_status report_print_resident(const struct view *view) {
  const struct resident *resident = &view->facts->resident;
  if (!resident->rss_bytes) return WN_OK;
  double touched = resident->mapped_private + resident->mapped_files;
  double size = resident->measured ? touched : resident->mapped_bytes;
  double least = worth_a_table * (double)resident->rss_bytes;
  wn_status error = size >= least ? report_resident_print_table(view, resident) : WN_OK;
  if (!error && resident->measured && resident->stack_bytes >= least)
    error = report_resident_print_stacks(view, resident);
  return error;
}

/* ---- tables ---- */

static wn_status print_alive(const struct view *view) {
  const struct report *report = view->report;
  char title[128], time[32], bytes[32];
  double freed = report->alive.bytes.total - report->live_at_end.bytes.total;
  bool several = report_has_processes(view);
  snprintf(title, sizeof title, "%s",
           several ? "Not freed when the processes ended, or their traces did"
                   : facts_label(view->facts, FACT_TOTALS_live_at_end_bytes));
  if (report->alive_ns < report->samples->end_ns)
    snprintf(title, sizeof title, "Alive after %s, before the program freed %s as it ended",
             text_time(time, report->alive_ns), text_bytes(bytes, freed));
  return report_print_table(view, title, MEASURE_ALIVE,
                            report_held_is_alive(report) ? &report->alive : &report->asked.live);
}

/* Of a collected heap, lives are in bytes that were allocated meanwhile. */
static wn_status report_text_print_allocated(const struct view *view) {
  if (!view->report->samples->collected)
    return report_print_table(view, "Allocated over the run", MEASURE_ALLOCATED, &view->report->asked.live);
  wn_status error = report_print_table(view,
                                       "Allocated, with the share of it that was promoted, and its median "
                                       "life in bytes that were allocated meanwhile",
                                       MEASURE_ALLOCATED, NULL);
  return error ? error : report_print_table(view, "Promoted", MEASURE_PROMOTED, NULL);
}

/* The title of what was held. */
static void write_held_title(const struct view *view, char title[128]) {
  static const char *const when[] = {" (the peak)", " (the end)", ""};
  const struct report *report = view->report;
  char time[32], last[32];
  if (report->at != AT_TIME && !report_is_timed(report))
    snprintf(title, 128, "Held at %s", report->at == AT_PEAK ? "the peak" : "the end");
  else if (report->at == AT_PEAK && !report_peak_is_one(report))
    snprintf(title, 128, "Held at moments between %s and %s (the peak)",
             text_time(time, report->peak.first_ns), text_time(last, report->peak.last_ns));
  else
    snprintf(title, 128, "Held after %s%s", text_time(time, report->asked.time_ns), when[report->at]);
}

static wn_status print_tables(const struct view *view) {
  const struct report *report = view->report;
  char held[128], lasting[128], time[32];
  write_held_title(view, held);
  snprintf(lasting, sizeof lasting, "Long-lived: at least %s", text_time(time, report->long_ns));
  wn_status error = report_print_processes(view, held);
  if (!error) error = report_print_table(view, held, MEASURE_HELD, NULL);
  if (!error) report_print_hosts(view);
  if (!error && view->options->tree) error = report_print_tree(view);
  if (!error) error = report_text_print_allocated(view);
  if (!error) error = print_alive(view);
  if (!error && report_has_growth(view->report)) error = report_print_growth(view);
  if (!error && has_lives(view)) error = report_print_table(view, lasting, MEASURE_LASTING, NULL);
  return error;
}

/* Of a profile that has totals alone: neither lives nor times. */
static wn_status print_totals(const struct view *view) {
  const struct source_limits *limits = source_limits(view->report->samples->source);
  bool at_peak = view->report->at == AT_PEAK;
  wn_status error = WN_OK;
  if (at_peak) error = report_print_table(view, "Held at the peak", MEASURE_HELD, NULL);
  if (!error && view->options->tree && (at_peak || !limits->no_end)) error = report_print_tree(view);
  if (!error && !limits->no_total)
    error = report_print_table(view, "Allocated over the run", MEASURE_ALLOCATED, NULL);
  if (!error && !limits->no_end)
    error = report_print_table(
        view, limits->no_peak ? "Held at the moment of the profile" : "Held at the end", MEASURE_ALIVE, NULL);
  return error;
}

static wn_status report_text_print_tree(const struct view *view) {
  screen_print_head(view);
  wn_status error = report_print_tree(view);
  if (!error) screen_print_foot(view);
  return error;
}

static wn_status report_text_print_all(const struct view *view) {
  bool totals = source_limits(view->report->samples->source)->totals;
  screen_print_head(view);
  screen_print_step(view);
  report_print_facts(view->facts);
  print_run(view);
  wn_status error = totals ? WN_OK : report_print_resident(view);
  if (error || (!totals && !view->report->allocated.bytes.samples)) return error;
  if (report_is_timed(view->report)) report_print_time(view);
  error = totals ? print_totals(view) : print_tables(view);
  if (error) return error;
  report_print_wrappers(view);
  if (view->report->recording->wrappers.interpreters[INTERPRETER_PYTHON] &&
      mapped_has_arenas(view->report->samples))
    text_paragraph(
        stdout,
        "Python reuses freed dicts, lists, tuples and floats; each stays with the line that made it first.",
        0);
  if (!view->report->names->hint) return WN_OK;
  putchar('\n');
  text_paragraph(stdout, view->report->names->hint, 0);
  return WN_OK;
}

/* ---- shared ---- */

const char *const report_interpreters[INTERPRETERS] = {
    [INTERPRETER_PYTHON] = "Python's C functions and library",
    [INTERPRETER_PERL] = "Perl's C functions",
    [INTERPRETER_JIT] = "the language runtime's own functions",
};

wn_status view_print_text(const struct report *report, const struct report_options *options) {
  struct facts facts;
  struct verdict verdict;
  wn_status error = facts_find(report, &facts);
  if (!error) error = verdict_find(report, &verdict);
  if (error) return error;
  struct view view = {report, options, &facts, &verdict};
  return options->all    ? report_text_print_all(&view)
         : options->tree ? report_text_print_tree(&view)
                         : screen_print(&view);
}
/* SPDX-License-Identifier: MIT */
