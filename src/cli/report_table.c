/* Prints the tables of the text report.
 *
 * A row is a site: a function (or line, file, module, stack) with what it allocated itself, and
 * below it the callers that nearly all of its bytes have in common. The last row adds up what no
 * other row has, so that a table accounts for all bytes (ACCOUNT in sites.h). A row whose
 * number is rough (estimate_is_rough) is dim, and the number has a ≈.
 */
#include "cli/report_callers.h"
#include "cli/report_columns.h"
#include "cli/report_name.h"
#include "cli/report_text.h"
#include "cli/text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  ROWS = 10,
  NAME_COLUMNS = 60, /* of a name in a paragraph */
  SUFFIX_LEAST = 28, /* a narrower name is followed by " < +3" instead of " < +3 callers" */
  STACK_INDENT = 6,
  FRAMES_MOST = 12,
  FRAMES_INNER = 9
};

static const char *module_of(const struct view *view, const struct call_tree *tree, uint32_t label) {
  if (tree->grouping == BY_MODULE || tree->grouping == BY_FILE || tree->grouping == BY_PROCESS ||
      tree->grouping == BY_THREAD)
    return "";
  const struct label *found = &tree->labels[tree->grouping == BY_STACK ? tree->nodes[label].label : label];
  const char *module = strings_text(view->report->names->strings, found->module);
  const char *function = strings_text(view->report->names->strings, found->function);
  size_t length = strlen(module); /* an address is written "module+0x12" */
  return strncmp(function, module, length) != 0 || function[length] != '+' ? module : "";
}

/* ---- whole stacks ---- */

/* Prints a stack on lines of its own; of a deep stack only the innermost and the outermost frames.
 */
static void print_stack(const struct view *view, const struct call_tree *tree, uint32_t node) {
  struct paragraph paragraph = {.length = 0};
  char frames[64], fitted[FITTED_MOST];
  size_t depth = 0, at = 0;
  for (uint32_t outer = node; outer; outer = tree->nodes[outer].parent) depth++;
  for (; node; node = tree->nodes[node].parent, at++) {
    if (depth > FRAMES_MOST && at == FRAMES_INNER) say(&paragraph, " < (%zu more)", depth - FRAMES_MOST);
    if (depth > FRAMES_MOST && at >= FRAMES_INNER && at < depth - (FRAMES_MOST - FRAMES_INNER)) continue;
    say(&paragraph, "%s%s", at ? " < " : "",
        report_fit_label(view, tree, tree->nodes[node].label, fitted, NAME_COLUMNS, STACK_INDENT));
  }
  if (!depth) {
    puts("(no callstack)");
    return;
  }
  puts(text_number_of(frames, (double)depth, "frame"));
  text_paragraph(stdout, paragraph.text, STACK_INDENT);
}

/* ---- rows ---- */

/* Prints the name, and the callers after it or, if there is no room, on lines of their own. */
static void print_name(const struct view *view, const struct table *table, const struct columns *columns,
                       const struct site *site, const char *callers) {
  char suffix[64] = "", name[REPORT_NAME_MOST], fitted[REPORT_NAME_MOST + FITTED_MOST];
  const struct call_tree *tree = &table->tree;
  const char *module = module_of(view, tree, site->group->label);
  bool brief = columns->name < SUFFIX_LEAST;
  if (site->callers)
    snprintf(suffix, sizeof suffix, " < +%zu%s%s", site->callers, brief ? "" : " caller",
             brief || site->callers == 1 ? "" : "s");
  table_name(table, site->group, name, sizeof name);
  name_fit_module(fitted, sizeof fitted, name, suffix, module,
                  columns->name < 12 ? 12 : (size_t)columns->name);
  bool beside = (int)(text_columns(fitted) + text_columns(callers)) < columns->name;
  text_name(stdout, fitted);
  if (!beside) putchar('\n');
  if (!*callers && beside) putchar('\n');
  if (!*callers) return;
  text_style(stdout, STYLE_DIM);
  if (beside) {
    putchar(' ');
    text_name(stdout, callers);
    putchar('\n');
  } else {
    text_paragraph(stdout, callers + 1, CALLERS_INDENT);
  }
  text_style(stdout, STYLE_PLAIN);
}

static void print_site(const struct view *view, struct table *table, const struct columns *columns,
                       const struct site *site, struct chains *chains) {
  struct paragraph callers = {.length = 0};
  const struct group *group = site->group;
  struct estimate bytes = report_bytes(view->report, sites_sums(columns->order, group));
  struct chain chain;
  if (chains) {
    chains_follow(chains, group, &chain);
    report_say_callers(&callers, view, &table->tree, &chain, view->report->recording->byte_unit);
  }
  if (columns->ranges && estimate_is_rough(&bytes)) text_style(stdout, STYLE_DIM);
  bool totals = columns->order == SITES_BY_TOTAL;
  columns_print_line(columns, &(struct line){.sums = sites_sums(columns->order, group),
                                             .whole = &table->tree.nodes[0].total,
                                             .other = totals ? &group->self : &group->total,
                                             .group = group,
                                             .table = table});
  fputs("  ", stdout);
  if (table->tree.grouping == BY_STACK)
    print_stack(view, &table->tree, group->label);
  else
    print_name(view, table, columns, site, callers.text);
  text_style(stdout, STYLE_PLAIN);
}

/* Prints what no row has. In a table by totals only self sums can be added up. */
static void print_rest(const struct table *table, const struct columns *columns, const struct sites *sites) {
  if (!sites_have_rest(&table->tree, sites)) return;
  if (columns->order == SITES_BY_TOTAL)
    columns_print_line(columns, &(struct line){.other = &sites->rest});
  else
    columns_print_line(columns, &(struct line){.sums = &sites->rest, .whole = &table->tree.nodes[0].total});
  fputs("  ", stdout);
  if (sites->rest_count)
    report_print_rest(sites->rest_count, grouping_name(table->tree.grouping),
                      sites->count + sites->rest_count, columns->name);
  else
    puts("rest"); /* at the peak: bytes at moments when no sampled block of a row was held */
}

/* ---- functions on every stack ---- */

enum { ABOVE_NAMED = 8 };

static bool is_above(const struct sites *sites, uint32_t label) {
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
    if (is_above(sites, tree->nodes[node].label))
      say(&paragraph, "%s %s", named++ ? " >" : "",
          report_fit_label(view, tree, tree->nodes[node].label, fitted, NAME_COLUMNS, 0));
  if (sites->above_count > named) say(&paragraph, " and %zu more", sites->above_count - named);
  text_paragraph(stdout, paragraph.text, 0);
}

/* Chooses the sites: as many as --top says; without --top those with at least 1 % of the bytes. */
static wn_status choose_sites(const struct view *view, const struct table *table, struct sites *sites) {
  size_t top = view->options->top;
  struct sites_options wanted = {.order = view->options->order,
                                 .most = top ? top : ROWS,
                                 .least = top ? 0 : 0.01,
                                 .last = table->tree.grouping != BY_STACK};
  return sites_choose(&table->tree, &wanted, sites);
}

static wn_status print_sites(const struct view *view, struct table *table) {
  struct columns columns = columns_of(view, table);
  struct chains chains;
  struct sites sites;
  bool explain = view->options->order != SITES_BY_TOTAL &&
                 (table->tree.grouping == BY_FUNCTION || table->tree.grouping == BY_LINE ||
                  table->tree.grouping == BY_PROCESS);
  wn_status error = choose_sites(view, table, &sites);
  if (error) return error;
  error = explain ? chains_create(&table->tree, &chains) : WN_OK;
  if (!error) {
    print_above(view, &table->tree, &sites);
    columns_print_header(&columns, table->tree.grouping == BY_STACK ? "stack, innermost first"
                                                                    : grouping_name(table->tree.grouping));
    for (size_t i = 0; i < sites.count; i++)
      print_site(view, table, &columns, &sites.shown[i], explain ? &chains : NULL);
    print_rest(table, &columns, &sites);
  }
  if (explain) chains_destroy(&chains);
  sites_destroy(&sites);
  return error;
}

/* ---- shared ---- */

/* Equal sums of equally many samples are of the same blocks. The order of addition may differ. */
bool report_is_same(const struct sums *one, const struct sums *other) {
  const double rounding = 1e-9;
  return one->bytes.samples == other->bytes.samples && one->blocks.samples == other->blocks.samples &&
         fabs(one->bytes.total - other->bytes.total) <= rounding * one->bytes.total &&
         fabs(one->blocks.total - other->blocks.total) <= rounding * one->blocks.total;
}

void report_print_name(const char *name, int columns) {
  char fitted[REPORT_NAME_MOST];
  name_fit(fitted, sizeof fitted, name, columns < 12 ? 12 : (size_t)columns);
  text_name(stdout, fitted);
  putchar('\n');
}

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

wn_status report_print_table(const struct view *view, const char *title, const char *behind,
                             enum measure measure, unsigned details, const struct sums *before) {
  struct table table;
  wn_status error = report_table(view->report, measure, view->options->grouping, details, &table);
  if (error) return error;
  const struct sums *total = &table.tree.nodes[0].total;
  struct paragraph paragraph = {.length = 0};
  say(&paragraph, "%s: ", title);
  if (total->bytes.samples && measure == MEASURE_ALLOCATED)
    say_allocated(&paragraph, view, total);
  else if (total->bytes.samples)
    say_amount(&paragraph, view, total);
  else
    say(&paragraph, "%s",
        source_limits(view->report->samples->source)->totals ? "nothing" : "nothing that was sampled");
  if (total->bytes.samples && view->report->recording->partial)
    say(&paragraph, " in the part that was recorded");
  say(&paragraph, "%s", behind);
  bool repeated = before && report_is_same(total, before) && total->bytes.samples;
  if (repeated)
    say(&paragraph, ", %sthe same blocks as above",
        report_is_same(total, &view->report->asked.live) ? "" : "nearly ");
  putchar('\n');
  report_print_title(paragraph.text);
  if (table.tree.group_count && !repeated) error = print_sites(view, &table);
  table_destroy(&table);
  return error;
}
/* SPDX-License-Identifier: MIT */
