/* Prints what `winnow diff` says: the same numbers of both runs beside each other, a verdict, and the
 * functions that changed. Of two moments of one run it is what was held at only one of them. `--all` adds all
 * facts, and a table for each measure. */
#include "analysis/report/origins.h"
#include "base/text.h"
#include "cli/report/diff.h"
#include "cli/report/diff_table.h"
#include "cli/report/report_callers.h"
#include "cli/report/report_facts.h"
#include "cli/report/report_name.h"
#include "cli/report/report_text.h"
#include "cli/text.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LABEL = 20, VERDICT_INDENT = 21, TITLE = 40 /* but for the names */ };

/* ---- the numbers ---- */

static void say_name(struct paragraph *paragraph, const struct report *report) {
  const struct trace_run *run = source_run(report->samples->source);
  const char *command = run->command.length && run->command.bytes[0] ? run->command.bytes : "the program";
  if (report->samples->process_count > 1)
    report_say_processes(paragraph, report->samples);
  else
    say(paragraph, "%s", command_name(command));
}

static void diff_screen_print_title(const struct diff *diff) {
  const struct report *both[] = {&diff->pair.before, &diff->pair.after};
  for (int i = 0; i < 2 - diff->pair.moments; i++) {
    struct paragraph name = {.length = 0};
    char time[32], last[32];
    say_name(&name, both[i]);
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

static void diff_screen_print_scale(const struct diff *diff) {
  struct paragraph text = {.length = 0};
  if (diff->pair.scale.estimate <= 0) return;
  say(&text,
      "What was allocated before is multiplied by %.3g, as if both runs had %s. What was held is as it was.",
      diff->pair.scale.estimate,
      diff->options->scaling == PER_SECOND ? "taken as long" : "allocated as many bytes");
  text_paragraph(stdout, text.text, 2);
  putchar('\n');
}

/* The machines of two folders. */
static void print_hosts_compared(const struct diff *diff) {
  struct paragraph text = {.length = 0};
  size_t before = origins_count_hosts(&diff->pair.before), after = origins_count_hosts(&diff->pair.after);
  char number[64], means[HOSTS_SAID_MOST];
  if (diff->pair.moments || (!diff->pair.hosts[0] && before == after)) return;
  if (*pair_say_hosts(&diff->pair, means)) {
    say(&text, "%s", means);
    if (pair_rows_are_sums(&diff->pair, diff->options->grouping))
      say(&text, " Rows by %s are sums.", grouping_name(diff->options->grouping));
  } else {
    say(&text, "All numbers are sums, over %s before and %zu after, and no means of a host.",
        text_number_of(number, (double)before, "host"), after);
  }
  text_paragraph(stdout, text.text, 2);
  putchar('\n');
}

static void diff_screen_print_change(const struct diff *diff, const struct change *change, bool sure) {
  if (sure && !diff->pair.moments)
    print_percent(change, sure);
  else if (!sure && !pair_is_without_ranges(&diff->pair))
    printf("  %s", change->difference.low == change->difference.high ? "unchanged" : diff_unsure_word(diff));
  putchar('\n');
}

static void diff_screen_print_fact(const struct diff *diff, const struct diff_columns *columns,
                                   enum fact_name name) {
  char before[FACT_TEXT_MOST], after[FACT_TEXT_MOST], text[FACT_TEXT_MOST], margin[16];
  struct change change;
  if (!facts_change(&diff->before, &diff->after, name, &diff->pair.scale, &change) ||
      (change.before.estimate <= 0 && change.after.estimate <= 0))
    return;
  bool sure = !pair_is_without_ranges(&diff->pair) && difference_is_sure(&change.difference);
  struct diff_cells cells = {
      .number = {[DIFF_BEFORE] = fact_text(before, &diff->before, name, change.before.estimate),
                 [DIFF_AFTER] = fact_text(after, &diff->after, name, change.after.estimate),
                 [DIFF_CHANGE] = fact_change_text(text, &diff->after, name, change.difference.estimate),
                 [DIFF_MARGIN] = diff_margin(margin, &change.difference)}};
  fputs("  ", stdout);
  text_pad(stdout, regression_label(&diff->after, name), LABEL - 2);
  diff_print_cells(columns, &cells, sure);
  diff_screen_print_change(diff, &change, sure);
}

/* Of two moments: what was held. */
static wn_status diff_screen_print_held(const struct diff *diff, const struct diff_columns *columns) {
  struct compared_tables tables;
  wn_status error = diff_compare(diff, MEASURE_HELD, &tables);
  if (error) return error;
  const struct comparison *held = &tables.comparison;
  fputs("  ", stdout);
  text_pad(stdout, "Held", LABEL - 2);
  diff_print_bytes(diff, columns, &held->bytes, held->sure);
  diff_screen_print_change(diff, &held->bytes, held->sure);
  compared_tables_destroy(&tables);
  return WN_OK;
}

static wn_status print_numbers(const struct diff *diff) {
  struct diff_columns columns = diff_columns_of(diff, TABLE_BRIEF);
  const enum fact_name *decide = regression_facts(&diff->pair.before);
  printf("%*s", LABEL, "");
  diff_print_header(diff, &columns);
  puts(diff->pair.moments ? "" : "  in %");
  text_style(stdout, STYLE_PLAIN);
  if (diff->pair.moments) return diff_screen_print_held(diff, &columns);
  diff_screen_print_fact(diff, &columns, FACT_TOTALS_peak_rss_bytes);
  if (diff->pair.before.recording->rate != diff->pair.after.recording->rate)
    diff_screen_print_fact(diff, &columns,
                           FACT_PARTS_winnow); /* a part of it that the program did not change */
  for (int i = 0; i < REGRESSION_FACTS; i++)
    if (i == 0 || decide[i] != decide[0]) diff_screen_print_fact(diff, &columns, decide[i]);
  diff_screen_print_fact(diff, &columns, FACT_HEAP_promoted_words);
  diff_screen_print_fact(diff, &columns, FACT_PAUSES_longest_ns);
  return WN_OK;
}

/* ---- the verdict ---- */

static void say_functions(struct paragraph *text, const struct regression *verdict,
                          const struct comparison *comparison) {
  const struct compared *rows[REGRESSION_NAMED];
  size_t count = regression_rows(verdict, comparison, rows);
  for (size_t i = 0; i < count; i++) {
    char name[REPORT_NAME_MOST], fitted[FITTED_MOST], change[40];
    table_name(comparison_table(comparison, rows[i]), compared_group(rows[i]), name, sizeof name);
    say(text, "%s%s %s", i ? ", " : ": ", name_fit_paragraph(fitted, FITTED_MOST, name, 60, VERDICT_INDENT),
        text_change(change, rows[i]->bytes.difference.estimate));
  }
  const char *hint = regression_hint(verdict, comparison);
  if (*hint) say(text, "; %s", hint);
}

/* What was held is not divided by how long a run took. */
static void say_lengths(struct paragraph *text, const struct diff *diff) {
  const struct report *before = &diff->pair.before, *after = &diff->pair.after;
  char share[32];
  if (diff->pair.hosts[0] || diff->options->scaling || !report_is_timed(before) || !report_is_timed(after))
    return;
  double longer = (double)after->samples->end_ns / (double)before->samples->end_ns - 1;
  if (fabs(longer) > 0.1)
    say(text, "; it ran %s %s", text_share(share, fabs(longer)), longer > 0 ? "longer" : "shorter");
}

static wn_status print_verdict(const struct diff *diff) {
  struct paragraph text = {.length = 0};
  const struct regression *verdict = &diff->verdict;
  char change[FACT_TEXT_MOST];
  if (diff->pair.moments) return WN_OK;
  if (verdict->kind > REGRESSION_NONE) {
    struct compared_tables tables;
    wn_status error = diff_compare(diff, regression_measure(verdict), &tables);
    if (error) return error;
    say(&text, "%s%s %s", regression_label(&diff->after, verdict->fact), regression_by(verdict),
        fact_change_text(change, &diff->after, verdict->fact, verdict->change.difference.estimate));
    say_functions(&text, verdict, &tables.comparison);
    say_lengths(&text, diff);
    compared_tables_destroy(&tables);
  }
  say(&text, "%s", regression_reason(verdict, &diff->pair));
  fputs("\n  ", stdout);
  text_style(stdout, verdict->kind == REGRESSION_WORSE     ? STYLE_ALARM
                     : verdict->kind == REGRESSION_UNKNOWN ? STYLE_WARNING
                                                           : STYLE_GOOD);
  text_pad(stdout, regression_title(verdict->kind, pair_is_exact(&diff->pair)), VERDICT_INDENT - 2);
  text_style(stdout, STYLE_PLAIN);
  text_continue(stdout, text.text, VERDICT_INDENT);
  return WN_OK;
}

/* ---- the tables ---- */

static void print_limits(const struct diff *diff) {
  const char *had = source_limits(diff->pair.before.samples->source)->note,
             *has = source_limits(diff->pair.after.samples->source)->note;
  char text[2048];
  bool both = *had && !strcmp(had, has);
  if (*had) {
    snprintf(text, sizeof text, "%s: %s", both ? "Before and after" : "Before", had);
    putchar('\n'), text_paragraph(stdout, text, 0);
  }
  if (*has && !both) {
    snprintf(text, sizeof text, "After: %s", has);
    putchar('\n'), text_paragraph(stdout, text, 0);
  }
  if (matching_is_of_two_tools(&diff->pair.before, &diff->pair.after))
    text_paragraph(
        stdout,
        "Two tools write some names in different ways, with and without scopes or parameters. Such "
        "names count as one where no other name is as similar; others look gone and new.",
        0);
}

static bool both_tell(const struct diff *diff, enum measure measure) {
  const struct source_limits *had = source_limits(diff->pair.before.samples->source),
                             *has = source_limits(diff->pair.after.samples->source);
  return measure != MEASURE_ALLOCATED || (!had->no_total && !has->no_total);
}

static wn_status diff_screen_print_table(const struct diff *diff, enum measure measure,
                                         enum table_style style, char said[COMPARISON_NOTE_MOST]) {
  struct compared_tables tables;
  wn_status error = diff_compare(diff, measure, &tables);
  if (error) return error;
  error = diff_print_table(diff, measure, &tables, style, said);
  compared_tables_destroy(&tables);
  return error;
}

/* A table where something changed for sure: what was held, or else what was allocated. */
static wn_status diff_screen_print_changes(const struct diff *diff, char said[COMPARISON_NOTE_MOST]) {
  struct compared_tables held;
  wn_status error = diff_compare(diff, MEASURE_HELD, &held);
  if (error) return error;
  if (held.comparison.sure_count || diff->pair.moments || !both_tell(diff, MEASURE_ALLOCATED))
    error = diff_print_table(diff, MEASURE_HELD, &held, TABLE_BRIEF, said);
  else
    error = diff_screen_print_table(diff, MEASURE_ALLOCATED, TABLE_BRIEF, said);
  compared_tables_destroy(&held);
  return error;
}

/* Of two moments, what was held alone. */
static wn_status diff_screen_print_all(const struct diff *diff, char said[COMPARISON_NOTE_MOST]) {
  const struct pair *pair = &diff->pair;
  bool has_alive = pair->before.at != AT_END || diff->options->moments == 2,
       collected = pair->before.samples->collected && pair->after.samples->collected;
  wn_status error = diff_screen_print_table(diff, MEASURE_HELD, TABLE_FULL, said);
  if (pair->moments) return error;
  if (!error && both_tell(diff, MEASURE_ALLOCATED))
    error = diff_screen_print_table(diff, MEASURE_ALLOCATED, TABLE_FULL, said);
  if (!error && has_alive) error = diff_screen_print_table(diff, MEASURE_ALIVE, TABLE_FULL, said);
  if (!error && collected) error = diff_screen_print_table(diff, MEASURE_PROMOTED, TABLE_FULL, said);
  return error;
}

static void print_foot(const struct diff *diff) {
  putchar('\n');
  text_style(stdout, STYLE_DIM);
  if (diff->options->other) {
    fputs("  In a browser: winnow view ", stdout);
    text_file(stdout, diff->options->file);
    fputc(' ', stdout);
    text_file(stdout, diff->options->other);
    fputs(text_width() < 100 ? "   all: --all\n" : "   each table and range: --all\n", stdout);
    if (diff->verdict.kind == REGRESSION_WORSE) {
      fputs("  Next: winnow report ", stdout);
      text_file(stdout, diff->options->other);
      fputs("   (whether it is a leak, and where to look)\n", stdout);
    }
  } else {
    puts("  Each range: --all");
  }
  text_style(stdout, STYLE_PLAIN);
}

/* ---- shared ---- */

wn_status diff_print_text(const struct diff *diff) {
  char said[COMPARISON_NOTE_MOST] = "";
  bool all = diff->options->all;
  diff_screen_print_title(diff);
  diff_screen_print_scale(diff);
  print_hosts_compared(diff);
  if (diff->pair.resized)
    text_paragraph(stdout,
                   "A block that was resized in between counts on both sides: with its old size, and with "
                   "its new one.",
                   2),
        putchar('\n');
  wn_status error = print_numbers(diff);
  if (!error) error = print_verdict(diff);
  if (!error && all && !diff->pair.moments) diff_print_facts(&diff->before, &diff->after, &diff->pair.scale);
  if (!error && all && !diff->pair.moments) print_limits(diff);
  if (!error) error = all ? diff_screen_print_all(diff, said) : diff_screen_print_changes(diff, said);
  if (error || all) return error;
  if (!diff->pair.moments) print_limits(diff);
  print_foot(diff);
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
