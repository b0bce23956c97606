/* Prints the tables of the report: of the first screen, and of --all.
 *
 * A row is a function (or a line, file, module, stack ...) with what it allocated itself, the line where
 * most of that was allocated, and its callers. The last row adds up what no other row has, so that a table
 * accounts for all bytes (ACCOUNT in sites.h).
 *
 * TABLE_BRIEF. The program's own mappings have rows among malloc's blocks. Callers are those of the line if
 * it has nearly all of the function's bytes, and then have lines, too; else those of the function. A row
 * takes one line, or two if its callers have no room beside it; a stack takes up to STACK_LINES more. Rows
 * below LEAST of the whole have none, unless ROWS_LEAST larger ones are not there. With --top there are as
 * many rows as it says, whatever the lines of a screen.
 *
 * TABLE_FULL. All callers that nearly all bytes have in common, and the shares of those where paths part. A
 * row whose number is rough (estimate_is_rough) is dim, and the number has a ≈. */
#include "analysis/report/resident.h"
#include "analysis/report/trend.h"
#include "base/error.h"
#include "cli/report/report_callers.h"
#include "cli/report/report_columns.h"
#include "cli/report/report_name.h"
#include "cli/report/report_place.h"
#include "cli/report/screen.h"
#include "cli/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  ROWS = 10,
  ROWS_LEAST = 4,
  STACK_MOST = 512,
  STACK_LINES = 3,
  STACK_LINES_FULL = 12,
  NAME_COLUMNS = 60, /* of a name in a paragraph */
  NAME_LEAST = 14,   /* a place that leaves a name less room is not printed */
  SUFFIX_LEAST = 28  /* a narrower name is followed by " < +3" instead of " < +3 callers" */
};
static const double LEAST = 0.02, LEAST_FULL = 0.01, ONE_LINE = 0.9;

/* A tree with what finds callers in it. */
struct traced {
  struct call_tree *tree;
  struct chains chains;
};

struct shown_row {
  const struct group *group;
  struct traced *of;
  bool mapped;
  size_t callers; /* that have no rows of their own, since they have the same bytes */
};

struct shown_table {
  const struct view *view;
  struct columns columns;
  struct table functions; /* the rows, whatever they are */
  struct table alive;     /* has_alive: what was alive last, which is not what was held */
  struct call_tree mappings;
  struct traced function, line, mapping;
  struct sums whole;     /* of blocks and mappings */
  struct sites sites[2]; /* of both trees */
  struct shown_row *rows;
  size_t count;
  int stack_lines; /* that a stack takes below its row at most */
  bool grows, has_mappings, has_alive;
};

static bool report_table_is_brief(const struct shown_table *table) {
  return table->columns.style == TABLE_BRIEF;
}

/* ---- the rows ---- */

static bool has_stack_rows(const struct view *view) { return view->options->grouping == BY_STACK; }

static wn_status trace_callers(struct traced *traced, struct call_tree *tree) {
  traced->tree = tree;
  return chains_create(tree, &traced->chains);
}

static wn_status make_mappings(struct shown_table *table) {
  const struct report *report = table->view->report;
  const struct resident *resident = &table->view->facts->resident;
  if (table->functions.measure != MEASURE_HELD || report->query || !resident->measured ||
      resident->mapped_bytes <= 0 || table->view->options->order != SITES_BY_SELF ||
      has_stack_rows(table->view))
    return WN_OK;
  wn_status error =
      resident_tree(report, resident, RESIDENT_MAPPINGS, table->view->options->grouping, &table->mappings);
  if (error) return error;
  table->has_mappings = true;
  sum_merge(&table->whole.bytes, &table->mappings.nodes[0].total.bytes);
  return trace_callers(&table->mapping, &table->mappings);
}

/* What rows tell besides sums. */
static unsigned details_of(const struct report *report, enum measure measure, enum table_style style,
                           bool grows) {
  bool lives = !source_limits(report->samples->source)->no_lives;
  switch (measure) {
  case MEASURE_HELD: return grows && report_held_is_alive(report) ? TABLE_GROWTH : TABLE_SUMS;
  case MEASURE_ALIVE: return grows ? TABLE_GROWTH : TABLE_SUMS;
  case MEASURE_PROMOTED: return TABLE_FATES;
  case MEASURE_ALLOCATED:
    if (report->samples->collected)
      return TABLE_FATES | (style == TABLE_FULL ? TABLE_WORD_LIVES : lives ? TABLE_LIVES : 0);
    return lives ? TABLE_LIVES : TABLE_SUMS;
  default: return TABLE_LIVES;
  }
}

static wn_status table_make(struct shown_table *table, const struct view *view, enum measure measure,
                            enum table_style style) {
  const struct report *report = view->report;
  enum grouping grouping = view->options->grouping;
  bool grows = (measure == MEASURE_HELD || measure == MEASURE_ALIVE) && report_has_growth(report);
  unsigned details = details_of(report, measure, style, grows);
  *table = (struct shown_table){
      .view = view, .grows = grows, .stack_lines = style == TABLE_BRIEF ? STACK_LINES : STACK_LINES_FULL};
  wn_status error = report_table(report, measure, grouping, details | TABLE_LINES, &table->functions);
  if (error) return error;
  table->whole = table->functions.tree.nodes[0].total;
  if (grows && !(details & TABLE_GROWTH)) {
    error = report_table(report, MEASURE_ALIVE, grouping, TABLE_GROWTH, &table->alive);
    if (error) return error;
    table->has_alive = true;
  }
  if (!has_stack_rows(view)) error = trace_callers(&table->function, &table->functions.tree);
  if (!error && grouping == BY_FUNCTION) error = trace_callers(&table->line, &table->functions.lines.tree);
  if (!error && style == TABLE_BRIEF) error = make_mappings(table);
  table->columns = columns_of(view, &table->functions, style, grows || table->has_mappings);
  return error;
}

static void table_free(struct shown_table *table) {
  if (table->function.tree) chains_destroy(&table->function.chains);
  if (table->line.tree) chains_destroy(&table->line.chains);
  if (table->mapping.tree) chains_destroy(&table->mapping.chains);
  if (table->has_mappings) call_tree_destroy(&table->mappings);
  if (table->has_alive) table_destroy(&table->alive);
  for (int i = 0; i < 2; i++) sites_destroy(&table->sites[i]);
  table_destroy(&table->functions);
  free(table->rows);
}

static void report_table_add_row(struct shown_table *table, const struct shown_row *row,
                                 enum sites_order order) {
  size_t at = table->count++;
  double bytes = sites_sums(order, row->group)->bytes.total;
  for (; row->mapped && at && sites_sums(order, table->rows[at - 1].group)->bytes.total < bytes; at--)
    table->rows[at] = table->rows[at - 1];
  table->rows[at] = *row;
}

static bool is_worth_a_row(const struct shown_table *table, size_t place, const struct group *group) {
  enum sites_order order = table->view->options->order;
  return table->view->options->top || place < ROWS_LEAST || !report_table_is_brief(table) ||
         sites_sums(order, group)->bytes.total >= LEAST * table->whole.bytes.total;
}

/* The rows of both trees, mappings put among the blocks by size. *others: how many have no row. */
static wn_status report_table_choose(struct shown_table *table, size_t *others) {
  const struct report_options *options = table->view->options;
  bool full = !report_table_is_brief(table);
  struct sites_options wanted = {.order = options->order,
                                 .most = options->top ? options->top : ROWS,
                                 .least = full && !options->top ? LEAST_FULL : 0,
                                 .last = full && !has_stack_rows(table->view)};
  struct traced *of[] = {&table->function, &table->mapping};
  struct call_tree *trees[] = {&table->functions.tree, table->has_mappings ? &table->mappings : NULL};
  *others = 0;
  for (int i = 0; i < 2 && trees[i]; i++) {
    struct sites *sites = &table->sites[i];
    wn_status error = sites_choose(trees[i], &wanted, sites);
    if (error) return error;
    *others += sites->rest_count + sites->count;
    struct shown_row *rows = realloc(table->rows, (table->count + sites->count + 1) * sizeof *rows);
    if (!rows) return error_set(WN_ENOMEM, "not enough memory for the table");
    table->rows = rows;
    for (size_t k = 0; k < sites->count; k++)
      report_table_add_row(table,
                           &(struct shown_row){sites->shown[k].group, of[i], i == 1, sites->shown[k].callers},
                           options->order);
  }
  size_t shown = 0, most = full ? table->count : wanted.most;
  while (shown < table->count && shown < most && is_worth_a_row(table, shown, table->rows[shown].group))
    shown++;
  table->count = shown;
  return WN_OK;
}

static const char *trend_of_row(struct shown_table *table, const struct shown_row *row) {
  if (row->mapped) return "mapped";
  if (!table->grows) return NULL;
  return trend_of(&table->functions, table->has_alive ? &table->alive : NULL, row->group,
                  table->view->options->order, table->view->verdict);
}

/* ---- names and callers ---- */

/* The name of a row, its line, and its callers. */
struct described {
  char name[REPORT_NAME_MOST], suffix[PLACE_MOST + 32];
  char place[PLACE_MOST];
  struct paragraph callers;
  int lines; /* of a stack's callers */
  const char *module;
};

static void describe_stack(struct shown_table *table, const struct group *group, struct described *what) {
  const struct call_tree *lines = &table->functions.lines.tree;
  uint32_t node = main_stack(&table->functions.lines, group), label[STACK_MOST];
  size_t count = 0;
  const struct group innermost = {.label = lines->nodes[node].label};
  table_name(&table->functions, group, what->name, sizeof what->name);
  if (lines->labels[innermost.label].line)
    place_write(table->view, lines, &innermost, 1, what->place, sizeof what->place);
  while (node && (node = lines->nodes[node].parent) && count < STACK_MOST)
    label[count++] = lines->nodes[node].label;
  what->lines = report_say_stack(&what->callers, table->view, lines, label, count, table->stack_lines,
                                 (size_t)text_width() - CALLERS_INDENT);
}

static void report_table_describe(struct shown_table *table, const struct shown_row *row,
                                  struct described *what) {
  const struct view *view = table->view;
  enum grouping grouping = view->options->grouping;
  const struct group *group = row->group;
  struct traced *of = row->of;
  struct chain chain;
  what->callers.length = 0;
  what->lines = 0;
  *what->callers.text = *what->place = 0;
  what->module = "";
  if (has_stack_rows(view)) {
    describe_stack(table, group, what);
    return;
  }
  const struct label *label = &of->tree->labels[group->label];
  call_tree_label(of->tree, view->report->names, group->label, what->name, sizeof what->name);
  if (grouping == BY_FUNCTION && !row->mapped) {
    size_t count;
    const struct main_lines *lines = &table->functions.lines;
    const struct group *line = main_line(lines, group, &count);
    if (line) place_write(view, &lines->tree, line, count, what->place, sizeof what->place);
    if (line && line->self.bytes.total >= ONE_LINE * group->self.bytes.total) of = &table->line, group = line;
  }
  if (!*what->place && grouping == BY_FUNCTION)
    place_of_language(view, label, what->place, sizeof what->place);
  bool code = grouping == BY_FUNCTION || grouping == BY_LINE;
  if (code && !*what->place) what->module = report_module_worth_naming(view, label);
  if (!strcmp(what->name, "main") || view->options->order == SITES_BY_TOTAL ||
      (!code && (grouping != BY_PROCESS || report_table_is_brief(table))))
    return;
  if (report_table_is_brief(table)) {
    chains_follow(&of->chains, group, &chain);
    report_say_callers_briefly(&what->callers, view, of->tree, &chain);
  } else {
    chains_follow(&row->of->chains, row->group, &chain);
    report_say_callers(&what->callers, view, row->of->tree, &chain, view->report->recording->byte_unit);
  }
}

/* ---- printing ---- */

static bool fits_one_line(const struct described *what, int room) {
  size_t columns = text_columns(what->name) + text_columns(what->place) + text_columns(what->callers.text) +
                   (*what->place ? 2 : 0) + (*what->module ? text_columns(what->module) + 4 : 0) +
                   (what->callers.length ? 1 : 0);
  return (int)columns <= room;
}

static int lines_of(const struct described *what, int room) {
  return 1 + (!what->callers.length || fits_one_line(what, room) ? 0 : what->lines ? what->lines : 1);
}

static void report_table_print_stack(const char *lines) {
  putchar('\n');
  text_style(stdout, STYLE_DIM);
  for (const char *line = lines; *line; line += strcspn(line, "\n"), line += *line == '\n') {
    printf("%*s", CALLERS_INDENT, "");
    text_plain(stdout, line, strcspn(line, "\n"));
    putchar('\n');
  }
  text_style(stdout, STYLE_PLAIN);
}

/* Of a row by totals, how many callers have no rows since they have the same bytes. */
static void report_table_write_suffix(const struct shown_row *row, int room, struct described *what) {
  bool brief = room < SUFFIX_LEAST;
  if ((int)text_columns(what->place) > room - NAME_LEAST) *what->place = 0;
  if (*what->place) place_cut_name(what->name, what->place);
  int length = snprintf(what->suffix, sizeof what->suffix, *what->place ? "  %s" : "%s", what->place);
  if (row->callers)
    snprintf(what->suffix + length, sizeof what->suffix - (size_t)length, " < +%zu%s%s", row->callers,
             brief ? "" : " caller", brief || row->callers == 1 ? "" : "s");
}

static void report_table_print_callers(const struct shown_table *table, const struct described *what,
                                       const char *fitted, int room) {
  int used = (int)text_columns(fitted) + 1;
  bool beside = report_table_is_brief(table) ? fits_one_line(what, room)
                                             : used + (int)text_columns(what->callers.text) - 1 < room;
  if (what->lines && !beside && what->callers.length)
    report_table_print_stack(what->callers.text);
  else
    report_print_callers(what->callers.text, table->columns.style, beside, columns_width(&table->columns));
}

/* Sets the texts of all rows. */
static wn_status report_table_fit_rows(struct shown_table *table, int room, struct fitted_rows *fitted) {
  struct described what;
  wn_status error = WN_OK;
  for (size_t i = 0; !error && i < table->count; i++) {
    report_table_describe(table, &table->rows[i], &what);
    report_table_write_suffix(&table->rows[i], room, &what);
    error = name_rows_add(fitted, what.name, what.suffix, what.module);
  }
  return error
             ? error
             : name_rows_fit(fitted, (size_t)room, !has_stack_rows(table->view)); /* a stack goes on below */
}

static void report_table_print_row(struct shown_table *table, const struct shown_row *row,
                                   struct described *what, const char *fitted, int room) {
  const struct group *group = row->group;
  enum sites_order order = table->view->options->order;
  const struct sums *sums = sites_sums(order, group);
  struct estimate bytes = report_bytes(table->view->report, sums);
  if (table->columns.ranges && estimate_is_rough(&bytes)) text_style(stdout, STYLE_DIM);
  columns_print_line(&table->columns,
                     &(struct line){.sums = sums,
                                    .whole = &table->whole,
                                    .other = order == SITES_BY_TOTAL ? &group->self : &group->total,
                                    .group = group,
                                    .table = &table->functions,
                                    .trend = trend_of_row(table, row),
                                    .mapped = row->mapped});
  fputs("  ", stdout);
  report_table_write_suffix(row, room, what);
  text_name(stdout, fitted);
  report_table_print_callers(table, what, fitted, room);
  text_style(stdout, STYLE_PLAIN);
}

/* Of the first screen, whose rows stop where it ends. */
static void print_brief_rest(const struct shown_table *table, const struct sums *rest, size_t count) {
  char text[64], number[64];
  if (!count || rest->bytes.total <= 0) return;
  columns_print_line(&table->columns, &(struct line){.sums = rest,
                                                     .whole = &table->whole,
                                                     .mapped = true,
                                                     .table = (struct table *)&table->functions});
  text_style(stdout, STYLE_DIM);
  snprintf(text, sizeof text, "more %s", grouping_name(table->view->options->grouping));
  printf("  %s\n", text_number_of(number, (double)count, text));
  text_style(stdout, STYLE_PLAIN);
}

/* Prints what no row has. In a table by totals only self sums can be added up. */
static void print_full_rest(const struct shown_table *table) {
  const struct sites *sites = &table->sites[0];
  if (!sites_have_rest(&table->functions.tree, sites)) return;
  if (table->columns.order == SITES_BY_TOTAL)
    columns_print_line(&table->columns, &(struct line){.other = &sites->rest});
  else
    columns_print_line(&table->columns, &(struct line){.sums = &sites->rest, .whole = &table->whole});
  fputs("  ", stdout);
  if (sites->rest_count)
    report_print_rest(sites->rest_count, grouping_name(table->functions.tree.grouping),
                      sites->count + sites->rest_count, table->columns.name);
  else
    puts("rest"); /* at the peak: bytes at moments when no sampled block of a row was held */
}

/* ---- functions on every stack ---- */

enum { ABOVE_NAMED = 8 };

static bool report_table_is_above(const struct sites *sites, uint32_t label) {
  for (size_t i = 0; i < sites->above_count; i++)
    if (sites->above[i]->label == label) return true;
  return false;
}

/* The callee with the largest total; 0 if there is none. */
static uint32_t largest_child(const struct call_tree *tree, uint32_t node) {
  uint32_t largest = 0;
  for (uint32_t child = tree->nodes[node].first_child; child; child = tree->nodes[child].next_sibling)
    if (!largest || tree->nodes[child].total.bytes.total > tree->nodes[largest].total.bytes.total)
      largest = child;
  return largest;
}

/* Names the functions that are on every stack and allocate nothing themselves, callers first. */
static void print_above(const struct view *view, const struct call_tree *tree, const struct sites *sites) {
  struct paragraph paragraph = {.length = 0};
  char fitted[FITTED_MOST];
  size_t named = 0;
  if (!sites->above_count) return;
  say(&paragraph, "On every stack, allocating nothing themselves:");
  for (uint32_t node = largest_child(tree, 0); node && named < ABOVE_NAMED; node = largest_child(tree, node))
    if (report_table_is_above(sites, tree->nodes[node].label))
      say(&paragraph, "%s %s", named++ ? " >" : "",
          report_fit_label(view, tree, tree->nodes[node].label, fitted, NAME_COLUMNS, 0));
  if (sites->above_count > named) say(&paragraph, " and %zu more", sites->above_count - named);
  text_paragraph(stdout, paragraph.text, 0);
}

/* ---- tables ---- */

static void subtract(struct sums *rest, const struct sums *shown) {
  rest->bytes.total -= shown->bytes.total;
  rest->bytes.samples -=
      shown->bytes.samples < rest->bytes.samples ? shown->bytes.samples : rest->bytes.samples;
}

/* What a row is, and the sign before its callers. */
static const char *write_heading(const struct shown_table *table, char heading[32]) {
  enum grouping grouping = table->view->options->grouping;
  bool callers = grouping <= BY_LINE && table->view->options->order != SITES_BY_TOTAL;
  snprintf(heading, 32, "%s%s", grouping_heading(grouping), callers ? "  < callers" : "");
  return heading;
}

/* Whether so many lines have room for the rows of a tenth of the table, with their callers. */
static bool report_table_has_room(struct shown_table *table, int lines, int room) {
  const double tenth = 0.1 * table->whole.bytes.total;
  struct described what;
  for (size_t i = 0; i < table->count; i++) {
    if (sites_sums(table->view->options->order, table->rows[i].group)->bytes.total < tenth) continue;
    report_table_describe(table, &table->rows[i], &what);
    lines -= lines_of(&what, room);
  }
  return lines >= 0;
}

static void drop_callers(struct described *what) { what->callers.length = 0, *what->callers.text = 0; }

/* Prints at most so many lines of rows with their header, but at least one row; *printed: how many. Without
 * room, callers stand only beside their rows, and below the first one if there is a line for them. */
static wn_status report_table_print_rows(struct shown_table *table, int lines, int *printed) {
  enum sites_order order = table->view->options->order;
  struct sums rest = table->whole;
  struct described what;
  struct fitted_rows fitted = {.row = NULL};
  size_t others, shown = 0;
  int room = table->columns.name < 12 ? 12 : table->columns.name;
  bool brief = report_table_is_brief(table);
  char heading[32];
  wn_status error = report_table_choose(table, &others);
  if (!error) error = report_table_fit_rows(table, room, &fitted);
  if (error) return name_rows_free(&fitted), error;
  if (!brief) print_above(table->view, &table->functions.tree, &table->sites[0]);
  columns_print_header(&table->columns,
                       table->functions.measure == MEASURE_ALLOCATED &&
                           !table->view->report->samples->collected,
                       write_heading(table, heading));
  *printed = 1;
  bool is_scarce = brief && !table->view->options->top && !has_stack_rows(table->view) &&
                   !report_table_has_room(table, lines - 2, room);
  bool ends = brief && !table->view->options->top;
  if (ends && lines - 3 < STACK_LINES) table->stack_lines = lines > 4 ? lines - 3 : 1;
  for (; shown < table->count; shown++) {
    report_table_describe(table, &table->rows[shown], &what);
    bool is_full = ends && *printed + lines_of(&what, room) > lines - 1;
    if (shown ? is_scarce && lines_of(&what, room) == 2 : is_full) drop_callers(&what);
    int taken = lines_of(&what, room);
    if (ends && shown && *printed + taken > lines - 1) break;
    report_table_print_row(table, &table->rows[shown], &what, fitted.row[shown].text, room);
    subtract(&rest, sites_sums(order, table->rows[shown].group));
    *printed += taken;
  }
  name_rows_free(&fitted);
  if (!brief) return print_full_rest(table), WN_OK;
  if (order == SITES_BY_TOTAL) return WN_OK; /* whose rows have blocks in common */
  print_brief_rest(table, &rest, others - shown);
  ++*printed;
  return WN_OK;
}

/* ---- shared ---- */

void report_print_rest(size_t count, const char *what, size_t top, int columns) {
  char number[64], text[128];
  text_number_of(number, (double)count, what);
  snprintf(text, sizeof text, "rest: %s (--top %zu)", number, top);
  if ((int)text_columns(text) > columns) snprintf(text, sizeof text, "rest: %s", number);
  if ((int)text_columns(text) > columns) snprintf(text, sizeof text, "%zu more", count);
  puts(text);
}

void report_print_title(const char *text) {
  text_style(stdout, STYLE_BOLD);
  text_paragraph(stdout, text, 0);
  text_style(stdout, STYLE_PLAIN);
}

static void say_title(struct paragraph *paragraph, const struct view *view, const char *title,
                      enum measure measure, const struct sums *total) {
  say(paragraph, "%s: ", title);
  if (total->bytes.samples && measure == MEASURE_ALLOCATED)
    say_allocated(paragraph, view, total);
  else if (total->bytes.samples)
    say_amount(paragraph, view, total);
  else
    say(paragraph, "%s",
        source_limits(view->report->samples->source)->totals ? "nothing" : "nothing that was sampled");
  if (total->bytes.samples && view->report->recording->partial)
    say(paragraph, " in the part that was recorded");
}

wn_status report_print_table(const struct view *view, const char *title, enum measure measure,
                             const struct sums *before) {
  struct shown_table table;
  struct paragraph paragraph = {.length = 0};
  int printed;
  wn_status error = table_make(&table, view, measure, TABLE_FULL);
  const struct sums *total = error ? NULL : &table.functions.tree.nodes[0].total;
  if (!error) {
    bool repeated = before && report_is_same(total, before) && total->bytes.samples;
    say_title(&paragraph, view, title, measure, total);
    if (repeated)
      say(&paragraph, ", %sthe same blocks as above",
          report_is_same(total, &view->report->asked.live) ? "" : "nearly ");
    putchar('\n');
    report_print_title(paragraph.text);
    if (table.functions.tree.group_count && !repeated) error = report_table_print_rows(&table, 0, &printed);
  }
  table_free(&table);
  return error;
}

wn_status screen_print_table(const struct view *view, const char *title, enum measure measure, int lines,
                             int *printed) {
  struct shown_table table;
  char bytes[32];
  *printed = 0;
  wn_status error = table_make(&table, view, measure, TABLE_BRIEF);
  if (!error && (table.functions.tree.group_count || table.has_mappings)) {
    putchar('\n');
    text_style(stdout, STYLE_BOLD);
    fputs(title, stdout);
    if (table.has_mappings) fputs(", AND MAPPED", stdout); /* at the moment of the resident size */
    if (table.has_mappings && !screen_is_explained(view))
      printf(" AT %s", text_time(bytes, view->facts->resident.time_ns));
    printf(", %s\n", text_bytes(bytes, table.whole.bytes.total));
    text_style(stdout, STYLE_PLAIN);
    error = report_table_print_rows(&table, lines - 2, printed);
    *printed += 2;
  }
  table_free(&table);
  return error;
}
/* SPDX-License-Identifier: MIT */
