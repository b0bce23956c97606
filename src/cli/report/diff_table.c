/* Prints the tables of `winnow diff`, of the first screen and of --all.
 *
 * A table lists the changes that are sure, those that got worse first, with their callers; then how many
 * others there are. TABLE_BRIEF has one number for the uncertainty of a change. TABLE_FULL has intervals and
 * sample counts, begins with the sum of all rows, and ends with the largest of the changes that are within
 * noise. A terminal that is too narrow for what was before and after shows only the change. */
#include "cli/report/diff_table.h"

#include "cli/report/report_callers.h"
#include "cli/report/report_columns.h"
#include "cli/report/report_name.h"
#include "cli/report/report_place.h"
#include "cli/report/screen.h"
#include "cli/text.h"
#include <stdio.h>
#include <string.h>

enum { ROWS = 10, NOISE_ROWS = 3, GAP = 2, NAME_LEAST = 24, NAME_INDENT = 6 /* on a line of its own */ };

/* The widths of the numbers, and of their intervals in TABLE_FULL. */
static const struct {
  enum table_style styles;
  int width, range;
} layout[DIFF_COLUMNS] = {[DIFF_BEFORE] = {TABLE_BOTH, 9, 12},
                          [DIFF_AFTER] = {TABLE_BOTH, 9, 12},
                          [DIFF_CHANGE] = {TABLE_BOTH, 10, 18},
                          [DIFF_MARGIN] = {TABLE_BRIEF, 7, 0},
                          [DIFF_SAMPLES] = {TABLE_FULL, 8, 0}};

/* ---- columns ---- */

/* Totals are no samples. */
static bool diff_table_has_samples(const struct report *report) {
  return !source_limits(report->samples->source)->totals;
}

static int diff_table_width_of(const struct diff_columns *columns) {
  int width = 0;
  for (int i = 0; i < DIFF_COLUMNS; i++)
    if (columns->shown[i]) width += layout[i].width + (columns->ranges ? layout[i].range : 0);
  return width;
}

static void diff_table_print_cell(const struct diff_columns *columns, int column, const char *number,
                                  const char *range) {
  text_pad(stdout, number ? number : "", -layout[column].width);
  if (!columns->ranges || !layout[column].range) return;
  putchar(' ');
  text_pad(stdout, range ? range : "", layout[column].range - 1);
}

/* What is before or after. Without a sample it is less than the upper end, if anything. */
static void set_amount(struct diff_cells *cells, int column, const struct estimate *bytes, char number[32],
                       char range[40]) {
  char most[32];
  cells->number[column] = bytes->samples ? text_bytes(number, bytes->estimate) : "none";
  cells->range[column] = range;
  *range = 0;
  if (bytes->samples)
    text_short_range(range, bytes);
  else if (bytes->high > 0)
    snprintf(range, 40, "<%s", text_bytes(most, bytes->high));
}

/* ---- rows ---- */

struct shown_table {
  const struct diff *diff;
  const struct comparison *comparison;
  struct diff_columns columns;
  /* The next are of what is before and after. */
  struct main_lines lines[2]; /* where rows are functions */
  struct chains chains[2];    /* without a tree: rows have no callers */
  struct fitted_rows texts;   /* of the first rows of the comparison */
};

static void begin_name(const struct diff_columns *columns) {
  if (columns->below) putchar('\n');
  printf("%*s", columns->below ? NAME_INDENT : GAP, "");
}

/* " (gone)", and the line where most of a function's bytes were allocated. */
static void diff_table_write_suffix(struct shown_table *shown, const struct compared *row,
                                    const struct view *view, char *suffix, size_t size) {
  const struct main_lines *lines = &shown->lines[row->after != NULL];
  const char *fate = compared_fate(shown->comparison, row);
  char place[PLACE_MOST];
  size_t count, length = (size_t)snprintf(suffix, size, *fate ? " (%s)" : "%s", fate);
  if (!lines->of) return;
  const struct group *line = main_line(lines, compared_group(row), &count);
  if (!line) return;
  place_write(view, &lines->tree, line, count, place, sizeof place);
  if ((int)text_columns(place) <= shown->columns.name - NAME_LEAST)
    snprintf(suffix + length, size - length, "  %s", place);
}

/* Sets the texts of so many rows. */
static wn_status diff_table_fit_rows(struct shown_table *shown, size_t count) {
  wn_status error = WN_OK;
  for (size_t i = 0; !error && i < count; i++) {
    const struct compared *row = &shown->comparison->rows[i];
    const struct table *table = comparison_table(shown->comparison, row);
    const struct group *group = compared_group(row);
    struct view view = {.report = table->report, .options = shown->diff->options};
    char name[REPORT_NAME_MOST], suffix[PLACE_MOST + 32];
    bool code = shown->diff->options->grouping <= BY_LINE;
    table_name(table, group, name, sizeof name);
    diff_table_write_suffix(shown, row, &view, suffix, sizeof suffix);
    if (strstr(suffix, "  ")) place_cut_name(name, strstr(suffix, "  ") + 2);
    error = name_rows_add(
        &shown->texts, name, suffix,
        code && !strchr(suffix, ':') ? report_module_worth_naming(&view, table_label(table, group)) : "");
  }
  return error ? error : name_rows_fit(&shown->texts, (size_t)shown->columns.name, true);
}

static void diff_table_print_row(struct shown_table *shown, size_t number) {
  const struct compared *row = &shown->comparison->rows[number];
  const struct table *table = comparison_table(shown->comparison, row);
  const struct group *group = compared_group(row);
  const struct diff_columns *columns = &shown->columns;
  struct view view = {.report = table->report, .options = shown->diff->options};
  struct chains *chains = &shown->chains[row->after != NULL];
  struct paragraph callers = {.length = 0};
  struct chain chain;
  bool brief = columns->style == TABLE_BRIEF;
  const char *fitted = shown->texts.row[number].text;
  diff_print_bytes(shown->diff, columns, &row->bytes, row->sure);
  if (chains->tree && row->sure) {
    chains_follow(chains, group, &chain);
    if (brief)
      report_say_callers_briefly(&callers, &view, &table->tree, &chain);
    else
      report_say_callers(&callers, &view, &table->tree, &chain, table->report->recording->byte_unit);
  }
  if (!row->sure) text_style(stdout, STYLE_DIM);
  begin_name(columns);
  text_name(stdout, fitted);
  int left = columns->name - (int)text_columns(fitted) - 1;
  report_print_callers(callers.text, columns->style, (int)text_columns(callers.text) <= left,
                       columns->below ? CALLERS_INDENT : diff_table_width_of(columns) + GAP);
}

static void print_sure(struct shown_table *shown, size_t count) {
  const struct comparison *comparison = shown->comparison;
  char number[64], what[64];
  for (int worse = 1; worse >= 0; worse--)
    for (size_t i = 0; i < count; i++)
      if ((comparison->rows[i].bytes.difference.estimate > 0) == worse) diff_table_print_row(shown, i);
  if (comparison->sure_count == count) return;
  text_style(stdout, STYLE_DIM);
  snprintf(what, sizeof what, "more %s", grouping_name(shown->diff->options->grouping));
  printf("  %s changed (--top %zu)\n", text_number_of(number, (double)(comparison->sure_count - count), what),
         comparison->sure_count);
  text_style(stdout, STYLE_PLAIN);
}

static size_t unsure_rows(const struct shown_table *shown) {
  size_t count = shown->comparison->count - shown->comparison->sure_count;
  return shown->columns.style != TABLE_FULL ? 0 : count < NOISE_ROWS ? count : NOISE_ROWS;
}

static void print_unsure(struct shown_table *shown) {
  const struct comparison *comparison = shown->comparison;
  size_t count = comparison->count - comparison->sure_count, rows = unsure_rows(shown);
  char number[64];
  if (!count) return;
  text_style(stdout, STYLE_DIM);
  printf("  %s %s%s\n", text_number_of(number, (double)count, grouping_name(shown->diff->options->grouping)),
         diff_unsure_word(shown->diff),
         !rows          ? ""
         : rows < count ? ", the largest:"
                        : ":");
  for (size_t i = 0; i < rows; i++) diff_table_print_row(shown, comparison->sure_count + i);
  text_style(stdout, STYLE_PLAIN);
}

/* How many of the sure rows are printed. What is said of a scale takes the place of one. */
static size_t sure_rows(const struct shown_table *shown) {
  const struct report_options *options = shown->diff->options;
  size_t most = options->top       ? options->top
                : options->scaling ? ROWS - 1
                                   : ROWS,
         sure = shown->comparison->sure_count;
  return sure < most + 1 ? sure : most;
}

static void diff_table_print_rows(struct shown_table *shown, const char *title) {
  const struct report_options *options = shown->diff->options;
  size_t count = sure_rows(shown);
  bool full = shown->columns.style == TABLE_FULL;
  putchar('\n');
  if (full || count) {
    report_print_title(title);
    diff_print_header(shown->diff, &shown->columns);
    if (shown->columns.below)
      putchar('\n');
    else
      printf("%*s%s\n", GAP, "", grouping_heading(options->grouping));
    text_style(stdout, STYLE_PLAIN);
  }
  if (full) {
    diff_print_bytes(shown->diff, &shown->columns, &shown->comparison->bytes, shown->comparison->sure);
    begin_name(&shown->columns);
    printf("in all%s%s\n", shown->comparison->sure ? "" : ", ",
           shown->comparison->sure ? "" : diff_unsure_word(shown->diff));
  }
  print_sure(shown, count);
  print_unsure(shown);
}

/* Rows have callers where they are functions or lines with what they allocated themselves. */
static wn_status find_places(struct shown_table *shown, int which, const struct table *table) {
  const struct report_options *options = shown->diff->options;
  if (options->grouping > BY_LINE) return WN_OK;
  wn_status error =
      options->order == SITES_BY_TOTAL ? WN_OK : chains_create(&table->tree, &shown->chains[which]);
  if (error || options->grouping != BY_FUNCTION) return error;
  return table_find_lines(table, &shown->lines[which]);
}

/* Prints the note of a comparison, unless it was said already. */
static void print_note(const struct comparison *comparison, enum table_style style,
                       char said[COMPARISON_NOTE_MOST]) {
  char note[COMPARISON_NOTE_MOST];
  comparison_note(comparison, note);
  if (!*note || !strcmp(note, said)) return;
  strcpy(said, note);
  if (style == TABLE_BRIEF) putchar('\n');
  text_style(stdout, STYLE_DIM);
  text_paragraph(stdout, note, 2);
  text_style(stdout, STYLE_PLAIN);
}

static const char *title_of(const struct diff *diff, enum measure measure) {
  enum when at = diff->pair.before.at;
  if (measure == MEASURE_ALLOCATED) return "ALLOCATED OVER THE RUN";
  if (measure == MEASURE_ALIVE)
    return diff->pair.after.samples->collected ? "NOT FOUND DEAD" : "HELD AT THE END";
  if (measure == MEASURE_PROMOTED) return "PROMOTED";
  if (diff->pair.moments) return "HELD AT ONE OF THE TWO MOMENTS";
  if (diff->options->moments == 2) return "HELD AT THE TWO MOMENTS";
  return at == AT_PEAK ? "HELD AT THE PEAK" : at == AT_END ? "HELD AT THE END" : "HELD AT THAT TIME";
}

/* ---- shared ---- */

struct diff_columns diff_columns_of(const struct diff *diff, enum table_style style) {
  struct diff_columns columns = {.style = style,
                                 .ranges = style == TABLE_FULL && !pair_is_exact(&diff->pair)};
  for (int i = 0; i < DIFF_COLUMNS; i++) columns.shown[i] = layout[i].styles & style;
  if (!diff_table_has_samples(&diff->pair.before) && !diff_table_has_samples(&diff->pair.after))
    columns.shown[DIFF_SAMPLES] = false;
  if (diff_table_width_of(&columns) > text_width())
    columns.shown[DIFF_BEFORE] = columns.shown[DIFF_AFTER] = false;
  columns.name = text_width() - diff_table_width_of(&columns) - GAP;
  columns.below = columns.name < NAME_LEAST;
  if (columns.below) columns.name = text_width() - NAME_INDENT;
  return columns;
}

void diff_print_header(const struct diff *diff, const struct diff_columns *columns) {
  bool moments = diff->pair.moments;
  const char *const words[] = {[DIFF_BEFORE] = moments ? "freed" : "before",
                               [DIFF_AFTER] = moments ? "new" : "after",
                               [DIFF_CHANGE] = "change",
                               [DIFF_MARGIN] = "±",
                               [DIFF_SAMPLES] = "samples"};
  text_style(stdout, STYLE_DIM);
  for (int i = 0; i < DIFF_COLUMNS; i++)
    if (columns->shown[i]) diff_table_print_cell(columns, i, words[i], "95 % range");
}

void diff_print_cells(const struct diff_columns *columns, const struct diff_cells *cells, bool sure) {
  for (int i = 0; i < DIFF_COLUMNS; i++) {
    if (i == DIFF_MARGIN || (i == DIFF_CHANGE && !sure)) text_style(stdout, STYLE_DIM);
    if (columns->shown[i]) diff_table_print_cell(columns, i, cells->number[i], cells->range[i]);
  }
  text_style(stdout, STYLE_PLAIN);
}

void diff_print_bytes(const struct diff *diff, const struct diff_columns *columns, const struct change *bytes,
                      bool sure) {
  char before[32], after[32], change[40], had[40], has[40], range[64], margin[16], samples[32];
  const struct estimate *difference = &bytes->difference;
  bool unknown = pair_is_without_ranges(&diff->pair) && difference->low >= difference->high;
  uint64_t count = (diff_table_has_samples(&diff->pair.before) ? bytes->before.samples : 0) +
                   (diff_table_has_samples(&diff->pair.after) ? bytes->after.samples : 0);
  struct diff_cells cells = {
      .number = {[DIFF_CHANGE] = text_change(change, difference->estimate),
                 [DIFF_MARGIN] = diff_margin(margin, difference),
                 [DIFF_SAMPLES] = count ? text_count(samples, (double)count) : ""},
      .range = {[DIFF_CHANGE] = unknown ? "not known" : text_change_range(range, difference)}};
  set_amount(&cells, DIFF_BEFORE, &bytes->before, before, had);
  set_amount(&cells, DIFF_AFTER, &bytes->after, after, has);
  diff_print_cells(columns, &cells, sure);
}

const char *diff_margin(char text[16], const struct estimate *difference) {
  struct estimate size = *difference;
  if (size.estimate < 0)
    size = (struct estimate){-size.estimate, -size.high, -size.low, size.samples, size.seen, size.variance};
  return screen_margin(text, &size);
}

const char *diff_unsure_word(const struct diff *diff) {
  if (pair_is_without_ranges(&diff->pair)) return "changed or not";
  return pair_is_exact(&diff->pair) ? "unchanged" : "within noise";
}

wn_status diff_print_table(const struct diff *diff, enum measure measure,
                           const struct compared_tables *tables, enum table_style style,
                           char said[COMPARISON_NOTE_MOST]) {
  struct shown_table shown = {
      .diff = diff, .comparison = &tables->comparison, .columns = diff_columns_of(diff, style)};
  const struct table *both[] = {&tables->before, &tables->after};
  wn_status error = WN_OK;
  for (int i = 0; i < 2 && !error; i++) error = find_places(&shown, i, both[i]);
  size_t unsure = unsure_rows(&shown), sure = unsure ? tables->comparison.sure_count : sure_rows(&shown);
  if (!error) error = diff_table_fit_rows(&shown, sure + unsure);
  if (!error) {
    diff_table_print_rows(&shown, title_of(diff, measure));
    print_note(&tables->comparison, style, said);
  }
  name_rows_free(&shown.texts);
  for (int i = 0; i < 2; i++) {
    if (shown.chains[i].tree) chains_destroy(&shown.chains[i]);
    main_lines_destroy(&shown.lines[i]);
  }
  return error;
}
/* SPDX-License-Identifier: MIT */
