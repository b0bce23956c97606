/* The first screen of `winnow diff`: the same numbers of both runs beside each other, a verdict, and the
 * functions that changed, those that got worse first. Of two moments of one run it is what was held at
 * only one of them. `--all` adds what diff_text.c prints. */
#include "cli/diff.h"
#include "cli/report_callers.h"
#include "cli/report_facts.h"
#include "cli/report_name.h"
#include "cli/report_processes.h"
#include "cli/screen.h"
#include "cli/text.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
  LABEL = 20,
  NUMBER = 10,
  ROWS = 10,
  NAME_INDENT = 41,
  NAMED = 2,
  VERDICT_INDENT = 21,
  TITLE = 40 /* but for the names */
};

/* ---- the numbers ---- */

static void print_title(const struct diff *diff) {
  const struct report *both[] = {&diff->pair.before, &diff->pair.after};
  for (int i = 0; i < 2 - diff->pair.moments; i++) {
    struct paragraph name = {.length = 0};
    char time[32], last[32];
    diff_say_name(&name, both[i]);
    name.text[text_that_fits(name.text, name.length, (size_t)(text_width() - TITLE) / 2)] = 0;
    text_style(stdout, STYLE_BOLD);
    if (!diff->pair.moments) fputs(i ? "   after: " : "before: ", stdout);
    text_name(stdout, name.text);
    text_style(stdout, STYLE_PLAIN);
    if (diff->pair.moments)
      printf(", from %s to %s", text_time(time, both[0]->asked.time_ns),
             text_time(last, both[1]->asked.time_ns));
    else if (report_is_timed(both[i]))
      printf(", %s", text_time(time, both[i]->samples->end_ns));
  }
  puts("\n");
}

static void print_head(const struct diff *diff) {
  bool moments = diff->pair.moments;
  text_style(stdout, STYLE_DIM);
  printf("%*s%*s%*s%*s%7s\n", LABEL, "", NUMBER, moments ? "freed" : "before", NUMBER,
         moments ? "new" : "after", NUMBER + 2, "change", "±");
  text_style(stdout, STYLE_PLAIN);
}

/* The larger side of the interval, in percent of the difference. */
static const char *margin(char text[16], const struct estimate *difference) {
  struct estimate size = *difference;
  if (size.estimate < 0)
    size = (struct estimate){-size.estimate, -size.high, -size.low, size.samples, size.seen, size.variance};
  return screen_margin(text, &size);
}

static void print_amounts(const char *before, const char *after, const char *change,
                          const struct estimate *difference, bool sure) {
  char wide[16];
  text_pad(stdout, before, -NUMBER);
  text_pad(stdout, after, -NUMBER);
  if (!sure) text_style(stdout, STYLE_DIM);
  text_pad(stdout, change, -NUMBER - 2);
  text_style(stdout, STYLE_DIM);
  text_pad(stdout, margin(wide, difference), -7);
  text_style(stdout, STYLE_PLAIN);
}

static void print_numbers(const struct change *bytes, bool sure) {
  char before[32], after[32], change[40];
  print_amounts(text_bytes(before, bytes->before.estimate), text_bytes(after, bytes->after.estimate),
                text_change(change, bytes->difference.estimate), &bytes->difference, sure);
}

static void print_change(const struct diff *diff, const struct change *change, bool sure) {
  if (sure && !diff->pair.moments)
    print_percent(change, sure);
  else if (!sure && !pair_is_without_ranges(&diff->pair))
    fputs(change->difference.low == change->difference.high ? "  unchanged" : "  within noise", stdout);
  putchar('\n');
}

static void print_fact(const struct diff *diff, enum fact_name name) {
  char before[FACT_TEXT_MOST], after[FACT_TEXT_MOST], text[FACT_TEXT_MOST];
  struct change change;
  if (!facts_change(&diff->before, &diff->after, name, &diff->pair.scale, &change) ||
      (change.before.estimate <= 0 && change.after.estimate <= 0))
    return;
  bool sure = !pair_is_without_ranges(&diff->pair) && difference_is_sure(&change.difference);
  fputs("  ", stdout);
  text_pad(stdout,
           name == FACT_TOTALS_alive_bytes  ? "Alive at the end"
           : name == FACT_TOTALS_held_bytes ? diff->pair.before.at == AT_END ? "Held at the end" : "Held then"
                                            : facts_label(&diff->after, name),
           LABEL - 2);
  print_amounts(fact_text(before, &diff->before, name, change.before.estimate),
                fact_text(after, &diff->after, name, change.after.estimate),
                fact_change_text(text, &diff->after, name, change.difference.estimate), &change.difference,
                sure);
  print_change(diff, &change, sure);
}

/* Of two moments: what was held. */
static void print_held(const struct diff *diff, const struct comparison *held) {
  fputs("  ", stdout);
  text_pad(stdout, "Held", LABEL - 2);
  print_numbers(&held->bytes, held->sure);
  print_change(diff, &held->bytes, held->sure);
}

static void print_facts(const struct diff *diff) {
  const enum fact_name *decide = regression_facts(&diff->pair.before);
  print_fact(diff, FACT_TOTALS_peak_rss_bytes);
  for (int i = 0; i < REGRESSION_FACTS; i++)
    if (i == 0 || decide[i] != decide[0]) print_fact(diff, decide[i]);
  print_fact(diff, FACT_HEAP_promoted_words);
  print_fact(diff, FACT_PAUSES_longest_ns);
}

/* ---- the verdict ---- */

static void say_functions(struct paragraph *text, const struct comparison *comparison, bool worse) {
  for (size_t i = 0, named = 0; i < comparison->sure_count && named < NAMED; i++) {
    const struct compared *row = &comparison->rows[i];
    char name[REPORT_NAME_MOST], fitted[FITTED_MOST], change[40];
    if ((row->bytes.difference.estimate > 0) != worse) continue;
    table_name(comparison_table(comparison, row), compared_group(row), name, sizeof name);
    say(text, "%s%s %s", named++ ? ", " : ": ",
        name_fit_paragraph(fitted, FITTED_MOST, name, 60, VERDICT_INDENT),
        text_change(change, row->bytes.difference.estimate));
  }
}

/* Which measure's rows show a fact. */
static enum measure measure_of(enum fact_name name) {
  return name == FACT_TOTALS_allocated_bytes ? MEASURE_ALLOCATED
         : name == FACT_TOTALS_alive_bytes   ? MEASURE_ALIVE
                                             : MEASURE_HELD;
}

static wn_status print_verdict(const struct diff *diff) {
  struct paragraph text = {.length = 0};
  const struct regression *verdict = &diff->verdict;
  char change[FACT_TEXT_MOST];
  if (diff->pair.moments) return WN_OK;
  if (verdict->kind > REGRESSION_NONE) {
    struct compared_tables tables;
    wn_status error = diff_compare(diff, measure_of(verdict->fact), &tables);
    if (error) return error;
    say(&text, "%s %s",
        verdict->fact == FACT_TOTALS_alive_bytes ? "Alive at the end"
                                                 : facts_label(&diff->after, verdict->fact),
        fact_change_text(change, &diff->after, verdict->fact, verdict->change.difference.estimate));
    say_functions(&text, &tables.comparison, verdict->kind == REGRESSION_WORSE);
    compared_tables_destroy(&tables);
  } else if (verdict->kind == REGRESSION_UNKNOWN) {
    say(&text, pair_is_partial(&diff->pair) ? "records are missing in a trace"
                                            : "the numbers are another profiler's estimates, without ranges");
  }
  fputs("\n  ", stdout);
  text_style(stdout, verdict->kind == REGRESSION_WORSE     ? STYLE_ALARM
                     : verdict->kind == REGRESSION_UNKNOWN ? STYLE_WARNING
                                                           : STYLE_GOOD);
  text_pad(stdout, regression_title(verdict->kind, pair_is_exact(&diff->pair)), VERDICT_INDENT - 2);
  text_style(stdout, STYLE_PLAIN);
  text_continue(stdout, text.text, VERDICT_INDENT);
  return WN_OK;
}

/* ---- the table ---- */

static void print_row(const struct diff *diff, const struct comparison *comparison,
                      const struct compared *row, struct chains *chains) {
  const struct table *table = comparison_table(comparison, row);
  struct view view = {.report = table->report, .options = diff->options};
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
      printf("%*s%*s%*s%7s  %s\n", NUMBER, diff->pair.moments ? "freed" : "before", NUMBER,
             diff->pair.moments ? "new" : "after", NUMBER + 2, "change", "±",
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
             pair_is_without_ranges(&diff->pair) ? "changed or not"
             : pair_is_exact(&diff->pair)        ? "unchanged"
                                                 : "within noise");
    text_style(stdout, STYLE_PLAIN);
  }
  if (before.tree) chains_destroy(&before);
  if (after.tree) chains_destroy(&after);
  return error;
}

static void print_foot(const struct diff *diff) {
  putchar('\n');
  text_style(stdout, STYLE_DIM);
  if (diff->options->other) {
    fputs("  In a browser: winnow html ", stdout);
    text_file(stdout, diff->options->file);
    fputc(' ', stdout);
    text_file(stdout, diff->options->other);
    fputs(text_width() < 100 ? "   all: --all\n" : "   each table and range: --all\n", stdout);
  } else {
    puts("  Each range: --all");
  }
  text_style(stdout, STYLE_PLAIN);
}

/* A table where something changed for sure: what was held, or else what was allocated. */
static wn_status print_changes(const struct diff *diff) {
  struct compared_tables held, allocated;
  wn_status error = diff_compare(diff, MEASURE_HELD, &held);
  if (error) return error;
  const char *title = diff->pair.moments                ? "HELD AT ONE OF THEM"
                      : diff->pair.before.at == AT_PEAK ? "CHANGED AT THE PEAK"
                                                        : "CHANGED IN WHAT WAS HELD";
  char note[COMPARISON_NOTE_MOST];
  if (diff->pair.moments) print_held(diff, &held.comparison);
  if (held.comparison.sure_count || diff->pair.moments || !diff_both_tell(diff, MEASURE_ALLOCATED)) {
    error = print_table(diff, title, &held);
  } else {
    error = diff_compare(diff, MEASURE_ALLOCATED, &allocated);
    if (!error) error = print_table(diff, "CHANGED IN WHAT WAS ALLOCATED", &allocated);
    if (!error) compared_tables_destroy(&allocated);
  }
  comparison_note(&held.comparison, note);
  if (*note) {
    putchar('\n');
    text_style(stdout, STYLE_DIM);
    text_paragraph(stdout, note, 2);
    text_style(stdout, STYLE_PLAIN);
  }
  compared_tables_destroy(&held);
  return error;
}

/* ---- shared ---- */

wn_status diff_print_head(const struct diff *diff) {
  print_title(diff);
  if (diff->options->scaling)
    printf("  What was before is multiplied by %.3g, as if both runs had %s.\n\n", diff->pair.scale.estimate,
           diff->options->scaling == PER_SECOND ? "taken as long" : "allocated as many bytes");
  if (diff->pair.resized)
    text_paragraph(stdout,
                   "A block that was resized in between counts on both sides: with its old size, and with "
                   "its new one.",
                   2),
        putchar('\n');
  print_head(diff);
  if (!diff->pair.moments) print_facts(diff);
  return print_verdict(diff);
}

wn_status diff_print_screen(const struct diff *diff) {
  wn_status error = diff_print_head(diff);
  if (!error) error = print_changes(diff);
  if (error) return error;
  if (!diff->pair.moments) diff_print_limits(diff);
  print_foot(diff);
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
