/* Prints all that `winnow diff --all` says: the first screen's numbers, all facts, and a table for each
 * measure.
 *
 * A table lists the changes that are sure, largest first. What is within noise comes last and is
 * dim: the largest such differences, and how many more there are. No number stands without its
 * range; on narrow terminals the columns of what was before and after go first.
 */
#include "cli/diff.h"

#include "cli/report_callers.h"
#include "cli/report_facts.h"
#include "cli/report_name.h"
#include "cli/report_processes.h"
#include "cli/report_text.h"
#include "cli/text.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
  ROWS = 10,
  NOISE_ROWS = 3,
  CHANGE = 9,
  RANGE = 18,
  NUMBER = 9,
  NUMBER_RANGE = 12,
  SAMPLES = 8,
  NAME_LEAST = 24,
  NAME_INDENT = 6 /* of a name on a line of its own */
};

/* ---- words ---- */

/* What is known of differences that are not sure: with missing records, nothing; where every block
 * was recorded, that there is none. */
enum knowledge { NOT_KNOWN, WITHIN_NOISE, UNCHANGED };

static enum knowledge knowledge_of(const struct diff *diff) {
  if (pair_is_without_ranges(&diff->pair)) return NOT_KNOWN;
  return pair_is_exact(&diff->pair) ? UNCHANGED : WITHIN_NOISE;
}

/* "+22.3 MB (+17.1 to +27.5 MB), +30 %", or that it is within noise. */
static void say_change(struct paragraph *paragraph, const struct diff *diff, const struct change *bytes,
                       bool sure) {
  static const char *const words[] = {", as far as is known", ", which is within noise", ", unchanged"};
  char change[40], range[64];
  say(paragraph, "%s", text_change(change, bytes->difference.estimate));
  if (bytes->difference.low < bytes->difference.high)
    say(paragraph, " (%s)", text_change_range(range, &bytes->difference));
  if (sure && !diff->pair.moments && bytes->before.samples && bytes->before.estimate > 0)
    say(paragraph, ", %+.0f %%", 100 * bytes->difference.estimate / bytes->before.estimate);
  if (!sure) say(paragraph, "%s", words[knowledge_of(diff)]);
}

/* ---- rows ---- */

/* Totals are no samples. */
static bool has_samples(const struct report *report) {
  return !source_limits(report->samples->source)->totals;
}

/* The columns that fit. */
struct layout {
  bool numbers; /* what was before and after */
  bool below;   /* the name has a line of its own */
  int name;
};

static struct layout layout_of(void) {
  int change = CHANGE + 1 + RANGE + SAMPLES + 2, numbers = 2 * (NUMBER + NUMBER_RANGE);
  int width = text_width();
  bool wide = width - change - numbers >= NAME_LEAST, below = width - change < NAME_LEAST;
  return (struct layout){wide, below, below ? width - NAME_INDENT : width - change - (wide ? numbers : 0)};
}

/* A long word stands over the number and its range. */
static void print_head_of_numbers(const char *word) {
  bool fits = strlen(word) <= NUMBER;
  text_pad(stdout, word, fits ? -NUMBER : 1 - NUMBER - NUMBER_RANGE);
  text_pad(stdout, fits ? "  range" : "", fits ? NUMBER_RANGE : 1);
}

static void print_header(const struct diff *diff, const struct layout *layout) {
  text_style(stdout, STYLE_DIM);
  text_pad(stdout, "change", -CHANGE);
  putchar(' ');
  text_pad(stdout, "95 % range", RANGE);
  if (layout->numbers) {
    print_head_of_numbers(pair_word_before(&diff->pair));
    print_head_of_numbers(pair_word_after(&diff->pair));
  }
  text_pad(stdout, has_samples(&diff->pair.before) || has_samples(&diff->pair.after) ? "samples" : "",
           -SAMPLES);
  if (layout->below)
    putchar('\n');
  else
    printf("  %s\n", grouping_name(diff->options->grouping));
  text_style(stdout, STYLE_PLAIN);
}

static void print_number(const struct estimate *bytes) {
  char number[32], range[32];
  text_pad(stdout, bytes->samples ? text_bytes(number, bytes->estimate) : "none", -NUMBER);
  putchar(' ');
  if (bytes->samples)
    text_pad(stdout, text_short_range(range, bytes), NUMBER_RANGE - 1);
  else if (bytes->high > 0)
    snprintf(number, sizeof number, "<%s", text_bytes(range, bytes->high)),
        text_pad(stdout, number, NUMBER_RANGE - 1);
  else
    text_pad(stdout, "", NUMBER_RANGE - 1);
}

static void print_name(const struct diff *diff, const struct comparison *comparison,
                       const struct compared *row, const struct layout *layout) {
  const struct table *table = comparison_table(comparison, row);
  const struct group *group = compared_group(row);
  const struct label *label = table_label(table, group);
  const struct strings *strings = table->report->names->strings;
  const char *fate = compared_fate(comparison, row);
  char name[REPORT_NAME_MOST], fitted[REPORT_NAME_MOST], suffix[32] = "";
  bool code = diff->options->grouping == BY_FUNCTION || diff->options->grouping == BY_LINE;
  const char *module = code ? strings_text(strings, label->module) : "";
  if (!strncmp(strings_text(strings, label->function), module, strlen(module))) module = "";
  table_name(table, group, name, sizeof name);
  if (*fate) snprintf(suffix, sizeof suffix, " (%s)", fate);
  name_fit_module(fitted, sizeof fitted, name, suffix, module, (size_t)layout->name);
  text_name(stdout, fitted);
  putchar('\n');
}

static void print_row(const struct diff *diff, const struct comparison *comparison,
                      const struct compared *row, const struct layout *layout) {
  char change[40], range[64], samples[32];
  const struct estimate *difference = &row->bytes.difference;
  text_style(stdout, row->sure ? STYLE_PLAIN : STYLE_DIM);
  text_pad(stdout, text_change(change, difference->estimate), -CHANGE);
  putchar(' ');
  bool unknown = pair_is_without_ranges(&diff->pair) && difference->low >= difference->high;
  text_pad(stdout, unknown ? "not known" : text_change_range(range, difference), RANGE);
  if (layout->numbers) {
    print_number(&row->bytes.before);
    print_number(&row->bytes.after);
  }
  uint64_t count = (has_samples(&diff->pair.before) ? row->bytes.before.samples : 0) +
                   (has_samples(&diff->pair.after) ? row->bytes.after.samples : 0);
  text_pad(stdout, count ? text_count(samples, (double)count) : "", -SAMPLES);
  if (layout->below)
    printf("\n%*s", NAME_INDENT, "");
  else
    fputs("  ", stdout);
  print_name(diff, comparison, row, layout);
  text_style(stdout, STYLE_PLAIN);
}

/* The rows within noise: the largest, and the number of the others. */
static void print_noise(const struct diff *diff, const struct comparison *comparison,
                        const struct layout *layout) {
  size_t count = comparison->count - comparison->sure_count,
         shown = count < NOISE_ROWS + 1 ? count : NOISE_ROWS;
  static const char *const headings[] = {"  Changed or not:", "  Within noise:", "  Unchanged:"};
  char number[64];
  if (!count) return;
  text_style(stdout, STYLE_DIM);
  puts(headings[knowledge_of(diff)]);
  for (size_t i = 0; i < shown; i++)
    print_row(diff, comparison, &comparison->rows[comparison->sure_count + i], layout);
  text_style(stdout, STYLE_DIM);
  if (count > shown)
    printf("  and %s more\n",
           text_number_of(number, (double)(count - shown), grouping_name(diff->options->grouping)));
  text_style(stdout, STYLE_PLAIN);
}

/* The callers of a row, as in the run that names it. */
static void print_callers(const struct diff *diff, const struct table *table, const struct group *group,
                          struct chains *chains) {
  struct paragraph callers = {.length = 0};
  struct view view = {.report = table->report, .options = diff->options};
  struct chain chain;
  chains_follow(chains, group, &chain);
  report_say_callers(&callers, &view, &table->tree, &chain, table->report->recording->byte_unit);
  if (!callers.length) return;
  text_style(stdout, STYLE_DIM);
  text_paragraph(stdout, callers.text + 1, CALLERS_INDENT);
  text_style(stdout, STYLE_PLAIN);
}

/* Prints the note of a comparison, unless it was said already. */
static void print_note(const struct comparison *comparison, char said[COMPARISON_NOTE_MOST]) {
  char note[COMPARISON_NOTE_MOST];
  comparison_note(comparison, note);
  if (!*note || !strcmp(note, said)) return;
  strcpy(said, note);
  text_style(stdout, STYLE_DIM);
  text_paragraph(stdout, note, 2);
  text_style(stdout, STYLE_PLAIN);
}

static void print_sure(const struct diff *diff, const struct compared_tables *tables,
                       const struct layout *layout, struct chains *before, struct chains *after) {
  const struct comparison *comparison = &tables->comparison;
  size_t top = diff->options->top ? diff->options->top : ROWS,
         shown = comparison->sure_count < top + 1 ? comparison->sure_count : top;
  char number[64];
  for (size_t i = 0; i < shown; i++) {
    const struct compared *row = &comparison->rows[i];
    print_row(diff, comparison, row, layout);
    if (before)
      print_callers(diff, comparison_table(comparison, row), compared_group(row),
                    row->after ? after : before);
  }
  if (comparison->sure_count > shown)
    printf("  and %s more (--top %zu)\n",
           text_number_of(number, (double)(comparison->sure_count - shown), "change"),
           comparison->sure_count);
}

/* Rows have callers where they are functions or lines with what they allocated themselves. */
static wn_status print_rows(const struct diff *diff, const struct compared_tables *tables) {
  struct layout layout = layout_of();
  struct chains before = {.tree = NULL}, after = {.tree = NULL};
  enum grouping grouping = diff->options->grouping;
  bool explain = diff->options->order != SITES_BY_TOTAL && (grouping == BY_FUNCTION || grouping == BY_LINE);
  wn_status error = explain ? chains_create(&tables->before.tree, &before) : WN_OK;
  if (error) return error;
  error = explain ? chains_create(&tables->after.tree, &after) : WN_OK;
  if (!error) {
    print_header(diff, &layout);
    print_sure(diff, tables, &layout, explain ? &before : NULL, explain ? &after : NULL);
    print_noise(diff, &tables->comparison, &layout);
  }
  if (explain) {
    if (!error) chains_destroy(&after);
    chains_destroy(&before);
  }
  return error;
}

static wn_status print_measure(const struct diff *diff, enum measure measure, const char *title,
                               char said[COMPARISON_NOTE_MOST]) {
  struct compared_tables tables;
  struct paragraph paragraph = {.length = 0};
  char before[128], after[128];
  wn_status error = diff_compare(diff, measure, &tables);
  if (error) return error;
  const struct change *bytes = &tables.comparison.bytes;
  say(&paragraph, "%s: ", title);
  if (bytes->difference.samples) {
    say(&paragraph, "%s %s, %s %s: ", with_range(before, &bytes->before), pair_word_before(&diff->pair),
        with_range(after, &bytes->after), pair_word_after(&diff->pair));
    say_change(&paragraph, diff, bytes, tables.comparison.sure);
  } else {
    say(&paragraph, diff->pair.moments ? "nothing that was sampled differs" : "nothing that was sampled");
  }
  report_print_title(paragraph.text);
  if (tables.comparison.count) error = print_rows(diff, &tables);
  print_note(&tables.comparison, said);
  putchar('\n');
  compared_tables_destroy(&tables);
  return error;
}

static bool ends_elsewhere(const struct diff *diff) {
  return source_limits(diff->pair.before.samples->source)->no_peak ||
         source_limits(diff->pair.after.samples->source)->no_peak;
}

/* ---- shared ---- */

void diff_say_name(struct paragraph *paragraph, const struct report *report) {
  const struct trace_run *run = source_run(report->samples->source);
  const char *command = run->command.length && run->command.bytes[0] ? run->command.bytes : "the program";
  const char *slash = strrchr(command, '/');
  if (report->samples->process_count > 1)
    report_say_processes(paragraph, report->samples);
  else
    say(paragraph, "%s", slash && slash[1] ? slash + 1 : command);
}

void diff_print_limits(const struct diff *diff) {
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

bool diff_both_tell(const struct diff *diff, enum measure measure) {
  const struct source_limits *had = source_limits(diff->pair.before.samples->source),
                             *has = source_limits(diff->pair.after.samples->source);
  return measure != MEASURE_ALLOCATED || (!had->no_total && !has->no_total);
}

wn_status diff_print_text(const struct diff *diff) {
  enum when at = diff->pair.before.at;
  const char *held = diff->pair.moments            ? "Held"
                     : diff->options->moments == 2 ? "Held at the two moments"
                     : at == AT_PEAK               ? "Held at the peak"
                     : at == AT_END && ends_elsewhere(diff)
                         ? "Held at the end, or at the moment of the profile"
                     : at == AT_END ? "Held at the end"
                                    : "Held at that time";
  char said[COMPARISON_NOTE_MOST] = ""; /* the last note */
  wn_status error = diff_print_head(diff);
  if (!error && !diff->pair.moments) diff_print_facts(&diff->before, &diff->after, &diff->pair.scale);
  if (!diff->pair.moments) diff_print_limits(diff);
  putchar('\n');
  if (!error) error = print_measure(diff, MEASURE_HELD, held, said);
  if (!error && !diff->pair.moments && diff_both_tell(diff, MEASURE_ALLOCATED))
    error = print_measure(diff, MEASURE_ALLOCATED, "Allocated over the run", said);
  if (!error && !diff->pair.moments && (at != AT_END || diff->options->moments == 2))
    error = print_measure(diff, MEASURE_ALIVE, "Alive at the end", said);
  if (!error && !diff->pair.moments && diff->pair.before.samples->collected &&
      diff->pair.after.samples->collected)
    error = print_measure(diff, MEASURE_PROMOTED, "Promoted", said);
  return error;
}
/* SPDX-License-Identifier: MIT */
