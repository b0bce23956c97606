/* The first screen of `winnow diff`: the same numbers of both runs beside each other, a verdict, and the
 * functions that changed, those that got worse first. `--all` prints diff_text.c in its place.
 *
 * VERDICT. A row is listed as changed if its 95 % interval excludes 0; of what did not change, 5 of 100 are.
 * A verdict takes more: the difference must exceed SURE times the half of that interval (3 standard
 * errors) and LEAST of what was before. The peak decides, then what is alive at the end, then what was
 * allocated. */
#include "analysis/resident.h"
#include "cli/diff.h"
#include "cli/report_callers.h"
#include "cli/report_name.h"
#include "cli/screen.h"
#include "cli/text.h"
#include <math.h>
#include <stdio.h>

enum { LABEL = 20, NUMBER = 10, ROWS = 10, NAME_INDENT = 41, NAMED = 2, VERDICT_INDENT = 21 };
static const double SURE = 1.5, LEAST = 0.02;

static const struct {
  const char *label;
  enum measure measure;
} facts[] = {{"Held at the peak", MEASURE_HELD},
             {"Alive at the end", MEASURE_ALIVE},
             {"Allocated", MEASURE_ALLOCATED}};
enum { FACTS = sizeof facts / sizeof *facts };

/* Where every block was recorded nothing is by chance. */
static bool is_exact(const struct diff *diff) {
  return diff->pair.before.recording->rate >= 1 && diff->pair.after.recording->rate >= 1;
}

/* ---- the numbers ---- */

static void print_title(const struct diff *diff) {
  const struct report *both[] = {&diff->pair.before, &diff->pair.after};
  for (int i = 0; i < 2; i++) {
    struct paragraph name = {.length = 0};
    char time[32];
    say_program_name(&name, &(struct view){both[i], diff->options});
    text_style(stdout, STYLE_BOLD);
    fputs(i ? "   after: " : "before: ", stdout);
    text_name(stdout, name.text);
    text_style(stdout, STYLE_PLAIN);
    printf(", %s", text_time(time, both[i]->samples->end_ns));
  }
  puts("\n");
}

static void print_head(void) {
  text_style(stdout, STYLE_DIM);
  printf("%*s%*s%*s%*s%7s\n", LABEL, "", NUMBER, "before", NUMBER, "after", NUMBER + 2, "change", "±");
  text_style(stdout, STYLE_PLAIN);
}

/* The larger side of the interval, in percent of the difference. */
static const char *margin(char text[16], const struct estimate *difference) {
  struct estimate size = *difference;
  if (size.estimate < 0)
    size = (struct estimate){-size.estimate, -size.high, -size.low, size.samples, size.seen, size.variance};
  return screen_margin(text, &size);
}

static void print_numbers(const struct change *bytes, bool sure) {
  char text[40], wide[16];
  text_pad(stdout, text_bytes(text, bytes->before.estimate), -NUMBER);
  text_pad(stdout, text_bytes(text, bytes->after.estimate), -NUMBER);
  if (!sure) text_style(stdout, STYLE_DIM);
  text_pad(stdout, text_change(text, bytes->difference.estimate), -NUMBER - 2);
  text_style(stdout, STYLE_DIM);
  text_pad(stdout, margin(wide, &bytes->difference), -7);
  text_style(stdout, STYLE_PLAIN);
}

static void print_fact(const struct diff *diff, const char *label, const struct change *bytes, bool sure) {
  fputs("  ", stdout);
  text_pad(stdout, label, LABEL - 2);
  print_numbers(bytes, sure);
  if (sure && bytes->before.estimate > 0)
    printf("  %+.0f %%", 100 * bytes->difference.estimate / bytes->before.estimate);
  else if (!sure)
    fputs(is_exact(diff) ? "  unchanged" : "  within noise", stdout);
  putchar('\n');
}

static void print_resident(const struct diff *diff) {
  double before = (double)report_resident(&diff->pair.before).most_bytes,
         after = (double)report_resident(&diff->pair.after).most_bytes;
  char text[40];
  if (before <= 0 || after <= 0) return;
  fputs("  ", stdout);
  text_pad(stdout, "Resident at most", LABEL - 2);
  text_pad(stdout, text_bytes(text, before), -NUMBER);
  text_pad(stdout, text_bytes(text, after), -NUMBER);
  text_pad(stdout, text_change(text, after - before), -NUMBER - 2);
  printf("%7s  %+.0f %%\n", "", 100 * (after - before) / before);
}

/* ---- the verdict ---- */

/* 1: more, -1: less, 0: neither for sure. */
static int direction_of(const struct change *bytes) {
  const struct estimate *difference = &bytes->difference;
  double size = fabs(difference->estimate),
         half = fmax(difference->high - difference->estimate, difference->estimate - difference->low);
  if (size <= SURE * half || size < LEAST * bytes->before.estimate) return 0;
  return difference->estimate > 0 ? 1 : -1;
}

static void say_who(struct paragraph *text, const struct compared_tables *tables, int direction) {
  const struct comparison *comparison = &tables->comparison;
  for (size_t i = 0, named = 0; i < comparison->sure_count && named < NAMED; i++) {
    const struct compared *row = &comparison->rows[i];
    char name[REPORT_NAME_MOST], fitted[FITTED_MOST], change[40];
    if ((row->bytes.difference.estimate > 0) != (direction > 0)) continue;
    table_name(comparison_table(comparison, row), compared_group(row), name, sizeof name);
    say(text, "%s%s %s", named++ ? ", " : ": ",
        name_fit_paragraph(fitted, FITTED_MOST, name, 60, VERDICT_INDENT),
        text_change(change, row->bytes.difference.estimate));
  }
}

static void print_verdict(const struct diff *diff, const struct compared_tables *tables) {
  struct paragraph text = {.length = 0};
  int fact = 0, direction = 0;
  char change[40];
  while (fact < FACTS && !(direction = direction_of(&tables[fact].comparison.bytes))) fact++;
  fputs("\n  ", stdout);
  text_style(stdout, direction > 0 ? STYLE_ALARM : STYLE_GOOD);
  text_pad(stdout,
           direction > 0    ? "REGRESSION"
           : direction      ? "IMPROVED"
           : is_exact(diff) ? "NO CHANGE"
                            : "NO CHANGE BEYOND NOISE",
           VERDICT_INDENT - 2);
  text_style(stdout, STYLE_PLAIN);
  if (direction) {
    say(&text, "%s %s", facts[fact].label,
        text_change(change, tables[fact].comparison.bytes.difference.estimate));
    say_who(&text, &tables[fact], direction);
  }
  text_continue(stdout, text.text, VERDICT_INDENT);
}

/* ---- the table ---- */

static void print_row(const struct diff *diff, const struct comparison *comparison,
                      const struct compared *row, struct chains *chains) {
  const struct table *table = comparison_table(comparison, row);
  struct view view = {table->report, diff->options};
  struct paragraph callers = {.length = 0};
  struct chain chain;
  char name[REPORT_NAME_MOST], fitted[REPORT_NAME_MOST], suffix[64];
  int room = text_width() - NAME_INDENT;
  const char *fate = compared_fate(comparison, row);
  table_name(table, compared_group(row), name, sizeof name);
  snprintf(suffix, sizeof suffix, *fate ? " (%s)" : "%s", fate);
  print_numbers(&row->bytes, row->sure);
  if (chains->tree) {
    chains_follow(chains, compared_group(row), &chain);
    report_say_callers_briefly(&callers, &view, &table->tree, &chain);
  }
  fputs("  ", stdout);
  name_fit_module(fitted, sizeof fitted, name, suffix, "", (size_t)(room < 20 ? 20 : room));
  text_name(stdout, fitted);
  text_style(stdout, STYLE_DIM);
  int left = room - (int)text_columns(fitted) - 1;
  if (callers.length && (int)text_columns(callers.text) <= left) text_name(stdout, callers.text);
  text_style(stdout, STYLE_PLAIN);
  putchar('\n');
}

static wn_status print_table(const struct diff *diff, const char *title,
                             const struct compared_tables *tables) {
  const struct comparison *comparison = &tables->comparison;
  struct chains before = {.tree = NULL}, after = {.tree = NULL};
  bool code = diff->options->grouping <= BY_LINE && diff->options->order != SITES_BY_TOTAL;
  size_t most = diff->options->top ? diff->options->top : ROWS,
         shown = comparison->sure_count < most ? comparison->sure_count : most;
  char number[64];
  wn_status error = code ? chains_create(&tables->before.tree, &before) : WN_OK;
  if (!error && code) error = chains_create(&tables->after.tree, &after);
  if (!error) {
    putchar('\n');
    text_style(stdout, STYLE_BOLD);
    if (shown) puts(title);
    text_style(stdout, STYLE_DIM);
    if (shown)
      printf("%*s%*s%*s%7s  %s\n", NUMBER, "before", NUMBER, "after", NUMBER + 2, "change", "±",
             grouping_name(diff->options->grouping));
    text_style(stdout, STYLE_PLAIN);
    for (int worse = 1; worse >= 0; worse--)
      for (size_t i = 0; i < shown; i++)
        if ((comparison->rows[i].bytes.difference.estimate > 0) == worse)
          print_row(diff, comparison, &comparison->rows[i], comparison->rows[i].after ? &after : &before);
    text_style(stdout, STYLE_DIM);
    if (comparison->sure_count > shown)
      printf("%*s%s more changed\n", NAME_INDENT, "",
             text_number_of(number, (double)(comparison->sure_count - shown),
                            grouping_name(diff->options->grouping)));
    if (comparison->count > comparison->sure_count)
      printf("%*s%s %s\n", NAME_INDENT, "",
             text_number_of(number, (double)(comparison->count - comparison->sure_count),
                            grouping_name(diff->options->grouping)),
             is_exact(diff) ? "unchanged" : "within noise");
    text_style(stdout, STYLE_PLAIN);
  }
  if (before.tree) chains_destroy(&before);
  if (after.tree) chains_destroy(&after);
  return error;
}

/* The next commands, and what else there is to know. */
static void print_foot(const struct diff *diff, const struct comparison *comparison) {
  char note[COMPARISON_NOTE_MOST];
  comparison_note(comparison, note);
  putchar('\n');
  text_style(stdout, STYLE_DIM);
  if (*note) text_paragraph(stdout, note, 2);
  fputs("  In a browser: winnow html ", stdout);
  text_file(stdout, diff->options->file);
  fputc(' ', stdout);
  text_file(stdout, diff->options->other);
  fputs("   each table and range: --all\n", stdout);
  text_style(stdout, STYLE_PLAIN);
}

/* ---- shared ---- */

bool diff_has_screen(const struct diff *diff) {
  return !diff->pair.moments && !pair_is_without_ranges(&diff->pair) && !diff->options->scaling &&
         diff->options->moments < 2 && !source_limits(diff->pair.before.samples->source)->totals &&
         !source_limits(diff->pair.after.samples->source)->totals;
}

wn_status diff_print_screen(const struct diff *diff) {
  struct compared_tables tables[FACTS];
  wn_status error = WN_OK;
  int made = 0;
  for (; made < FACTS && !error; made++)
    error = pair_compare(&diff->pair, facts[made].measure, diff->options->grouping,
                         sites_extent(diff->options->order), &tables[made]);
  if (error) made--;
  if (!error) {
    print_title(diff);
    print_head();
    print_resident(diff);
    for (int i = 0; i < FACTS; i++)
      print_fact(diff, facts[i].label, &tables[i].comparison.bytes, tables[i].comparison.sure);
    print_verdict(diff, tables);
    bool held = tables[0].comparison.sure_count || !tables[FACTS - 1].comparison.sure_count;
    error = print_table(diff, held ? "CHANGED AT THE PEAK" : "CHANGED IN WHAT WAS ALLOCATED",
                        &tables[held ? 0 : FACTS - 1]);
    print_foot(diff, &tables[0].comparison);
  }
  while (made) compared_tables_destroy(&tables[--made]);
  return error;
}
/* SPDX-License-Identifier: MIT */
