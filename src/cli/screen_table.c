/* The tables of the first screen: what was held, with the program's own mappings among malloc's blocks, and
 * what was allocated.
 *
 * A row is a function, as in the tables of --all, and has the line where most of it was allocated. Callers
 * are those of that line if it has nearly all of the function's bytes, and then have lines, too; else
 * those of the function. A row takes one line, or two if its callers have no room beside it; a stack takes
 * up to STACK_LINES more, for all its frames with their lines. Rows below
 * LEAST of the whole are added up in the last one, unless ROWS_LEAST larger ones are not there. With --top
 * there are as many rows as it says, whatever the lines of a screen. */
#include "cli/screen.h"

#include "analysis/resident.h"
#include "base/error.h"
#include "cli/report_callers.h"
#include "cli/report_name.h"
#include "cli/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 10, ROWS_LEAST = 4, PLACE_MOST = 256, STACK_MOST = 512, STACK_LINES = 3 };
static const double LEAST = 0.02, ONE_LINE = 0.9, FREED = 0.1;

/* A tree with what finds callers in it. */
struct traced {
  struct call_tree *tree;
  struct chains chains;
};

struct row_of_screen {
  const struct group *group;
  struct traced *of;
  bool mapped;
};

struct screen_table {
  const struct view *view;
  struct table functions, lines; /* lines: only where rows are functions */
  struct table alive;            /* has_alive: what was alive last, which is not what was held */
  struct call_tree mappings;
  struct traced function, line, mapping;
  struct sums whole; /* of blocks and mappings */
  struct row_of_screen *rows;
  size_t count;
  bool grows, has_lines, has_mappings, has_alive;
};

/* ---- lines ---- */

static bool is_of_function(const struct label *line, const struct label *function) {
  return line->function == function->function && line->module == function->module;
}

/* The line with most of a function's own bytes; NULL if none is known. *lines: how many have some. */
static const struct group *main_line(const struct call_tree *lines, const struct label *function,
                                     size_t *count) {
  const struct group *best = NULL;
  *count = 0;
  for (size_t i = 0; i < lines->group_count; i++) {
    const struct group *group = &lines->groups[i];
    const struct label *label = &lines->labels[group->label];
    if (!label->line || !group->self.bytes.samples || !is_of_function(label, function)) continue;
    ++*count;
    if (!best || group->self.bytes.total > best->self.bytes.total) best = group;
  }
  return best;
}

/* "leak.c:11", and "leak.c:11 +2" where two more lines have some. */
static void write_place(const struct view *view, const struct call_tree *lines, const struct group *line,
                        size_t count, char *buffer, size_t size) {
  const struct label *label = &lines->labels[line->label];
  const char *file = strings_text(view->report->names->strings, label->file), *slash = strrchr(file, '/');
  int length = snprintf(buffer, size, "%s:%u", slash ? slash + 1 : file, label->line);
  if (count > 1 && length > 0 && (size_t)length < size)
    snprintf(buffer + length, size - (size_t)length, " +%zu", count - 1);
}

/* ---- the rows ---- */

static bool has_stack_rows(const struct view *view) { return view->options->grouping == BY_STACK; }

static wn_status trace_callers(struct traced *traced, struct call_tree *tree) {
  traced->tree = tree;
  return chains_create(tree, &traced->chains);
}

static wn_status make_mappings(struct screen_table *table) {
  const struct report *report = table->view->report;
  struct resident resident = report_resident(report);
  if (table->functions.measure != MEASURE_HELD || report->query || !resident.measured ||
      resident.mapped_bytes <= 0 || table->view->options->order != SITES_BY_SELF ||
      has_stack_rows(table->view))
    return WN_OK;
  wn_status error =
      resident_tree(report, &resident, RESIDENT_MAPPINGS, table->view->options->grouping, &table->mappings);
  if (error) return error;
  table->has_mappings = true;
  sum_merge(&table->whole.bytes, &table->mappings.nodes[0].total.bytes);
  return trace_callers(&table->mapping, &table->mappings);
}

static wn_status table_make(struct screen_table *table, const struct view *view, enum measure measure) {
  const struct report *report = view->report;
  bool lives = !source_limits(report->samples->source)->no_lives;
  bool grows = measure == MEASURE_HELD && lives && report->samples->process_count < 2,
       still = grows && report_held_is_alive(report);
  unsigned details = measure != MEASURE_HELD ? (lives ? TABLE_LIVES : 0) : still ? TABLE_GROWTH : 0;
  *table = (struct screen_table){.view = view, .grows = grows};
  wn_status error = report_table(report, measure, view->options->grouping, details, &table->functions);
  if (error) return error;
  if (grows && !still) {
    error = report_table(report, MEASURE_ALIVE, view->options->grouping, TABLE_GROWTH, &table->alive);
    if (error) return error;
    table->has_alive = true;
  }
  table->whole = table->functions.tree.nodes[0].total;
  if (!has_stack_rows(view)) error = trace_callers(&table->function, &table->functions.tree);
  if (!error && (view->options->grouping == BY_FUNCTION || has_stack_rows(view))) {
    error = report_table(report, measure, BY_WHOLE_LINE, TABLE_SUMS, &table->lines);
    table->has_lines = !error;
    if (!error && !has_stack_rows(view)) error = trace_callers(&table->line, &table->lines.tree);
  }
  return error ? error : make_mappings(table);
}

static void table_free(struct screen_table *table) {
  if (table->function.tree) chains_destroy(&table->function.chains);
  if (table->line.tree) chains_destroy(&table->line.chains);
  if (table->mapping.tree) chains_destroy(&table->mapping.chains);
  if (table->has_mappings) call_tree_destroy(&table->mappings);
  if (table->has_lines) table_destroy(&table->lines);
  if (table->has_alive) table_destroy(&table->alive);
  table_destroy(&table->functions);
  free(table->rows);
}

static void add_row(struct screen_table *table, const struct row_of_screen *row, enum sites_order order) {
  size_t at = table->count++;
  double bytes = sites_sums(order, row->group)->bytes.total;
  for (; row->mapped && at && sites_sums(order, table->rows[at - 1].group)->bytes.total < bytes; at--)
    table->rows[at] = table->rows[at - 1];
  table->rows[at] = *row;
}

static bool is_worth_a_row(const struct screen_table *table, size_t place, const struct group *group) {
  enum sites_order order = table->view->options->order;
  return table->view->options->top || place < ROWS_LEAST ||
         sites_sums(order, group)->bytes.total >= LEAST * table->whole.bytes.total;
}

/* The rows of both trees, mappings put among the blocks by size. *others: how many have no row. */
static wn_status choose(struct screen_table *table, size_t *others) {
  const struct report_options *options = table->view->options;
  struct sites_options wanted = {.order = options->order, .most = options->top ? options->top : ROWS};
  struct traced *of[] = {&table->function, &table->mapping};
  struct call_tree *trees[] = {&table->functions.tree, table->has_mappings ? &table->mappings : NULL};
  *others = 0;
  for (int i = 0; i < 2 && trees[i]; i++) {
    struct sites sites;
    wn_status error = sites_choose(trees[i], &wanted, &sites);
    if (error) return error;
    *others += sites.rest_count + sites.count;
    struct row_of_screen *rows = realloc(table->rows, (table->count + sites.count + 1) * sizeof *rows);
    if (!rows) return sites_destroy(&sites), error_set(WN_ENOMEM, "not enough memory for the table");
    table->rows = rows;
    for (size_t k = 0; k < sites.count; k++)
      add_row(table, &(struct row_of_screen){sites.shown[k].group, of[i], i == 1}, options->order);
    sites_destroy(&sites);
  }
  size_t shown = 0;
  while (shown < table->count && shown < wanted.most &&
         is_worth_a_row(table, shown, table->rows[shown].group))
    shown++;
  table->count = shown;
  return WN_OK;
}

/* ---- printing ---- */

static void print_cell(const char *text, int width) { text_pad(stdout, text, -width); }

static void print_dim(const char *text, int width) {
  text_style(stdout, STYLE_DIM);
  print_cell(text, width);
  text_style(stdout, STYLE_PLAIN);
}

/* Of stacks, the numbers are those of nodes. */
static bool is_same_code(const struct call_tree *tree, uint32_t number, const struct call_tree *other,
                         uint32_t its) {
  bool stacks = tree->grouping == BY_STACK;
  for (;; number = tree->nodes[number].parent, its = other->nodes[its].parent) {
    const struct label *label = &tree->labels[stacks ? tree->nodes[number].label : number],
                       *its_label = &other->labels[stacks ? other->nodes[its].label : its];
    if (memcmp(label, its_label, sizeof *label) != 0) return false;
    if (!stacks || !number || !its) return !stacks || number == its;
  }
}

/* The group in `alive` of the same code; NULL: nothing of it was alive last. */
static const struct group *alive_of(const struct screen_table *table, const struct group *group) {
  const struct call_tree *tree = &table->alive.tree;
  for (size_t i = 0; i < tree->group_count; i++)
    if (is_same_code(&table->functions.tree, group->label, tree, tree->groups[i].label))
      return &tree->groups[i];
  return NULL;
}

/* How what was alive last came to be; of what was held earlier, that is what is left. */
static const char *trend_of(struct screen_table *table, const struct row_of_screen *row) {
  if (row->mapped) return "mapped";
  if (!table->grows) return "";
  enum sites_order order = table->view->options->order;
  const struct group *group = table->has_alive ? alive_of(table, row->group) : row->group;
  double held = sites_sums(order, row->group)->bytes.total;
  if (!group || sites_sums(order, group)->bytes.total < FREED * held) return "freed";
  struct growth growth =
      table_growth(table->has_alive ? &table->alive : &table->functions, group, sites_extent(order));
  static const char *const words[GROWTH_KIND_COUNT] = {[GROWTH_FEW] = "– few",
                                                       [GROWTH_STEADY] = "grows",
                                                       [GROWTH_ONCE] = "once",
                                                       [GROWTH_RECENT] = "new",
                                                       [GROWTH_UNEVEN] = "uneven"};
  bool level = growth.lately.estimate < 0.1 * growth.bytes.estimate &&
               growth.lately.estimate > -0.1 * growth.bytes.estimate;
  return growth.kind == GROWTH_UNEVEN && level ? "level" : words[growth.kind];
}

static void write_life(char text[32], struct screen_table *table, const struct row_of_screen *row) {
  char time[32];
  *text = 0;
  if (!(table->functions.details & TABLE_LIVES)) return;
  struct life life = table_life(&table->functions, row->group, sites_extent(table->view->options->order));
  if (life.samples) snprintf(text, 32, "%s%.28s", life.known ? "" : "> ", text_time(time, life.median));
}

static void print_numbers(struct screen_table *table, const struct row_of_screen *row) {
  const struct report *report = table->view->report;
  const struct sums *sums = sites_sums(table->view->options->order, row->group);
  char bytes[32], margin[16] = "", share[32], count[32] = "", last[32];
  struct estimate estimate = report_bytes(report, sums), blocks = report_blocks(report, sums);
  double size = row->mapped ? sums->bytes.total : estimate.estimate;
  if (row->mapped)
    text_short_count(count, (double)sums->bytes.samples);
  else if (!source_limits(report->samples->source)->no_blocks)
    text_short_count(count, blocks.estimate);
  print_cell(text_bytes(bytes, size), 10);
  print_dim(row->mapped ? "" : screen_margin(margin, &estimate), 7);
  print_cell(text_share(share, table->whole.bytes.total > 0 ? size / table->whole.bytes.total : 0), 7);
  print_cell(count, 9);
  if (table->functions.measure == MEASURE_HELD)
    snprintf(last, sizeof last, "%s", trend_of(table, row));
  else
    write_life(last, table, row);
  print_cell(last, 10);
  fputs("  ", stdout);
}

/* The name of a row, its line, and its callers. */
struct described {
  char name[REPORT_NAME_MOST], place[PLACE_MOST];
  struct paragraph callers;
  int lines; /* of a stack's callers */
  const char *module;
};

/* The program's own file is no news. */
static const char *module_worth_naming(const struct view *view, const struct label *label,
                                       const char *place) {
  const struct strings *strings = view->report->names->strings;
  const char *module = strings_text(strings, label->module),
             *function = strings_text(strings, label->function);
  const struct trace_run *run = source_run(view->report->samples->source);
  const char *command = run->command.length ? run->command.bytes : "", *slash = strrchr(command, '/');
  if (*place || !strcmp(module, slash ? slash + 1 : command)) return "";
  return strncmp(function, module, strlen(module)) ? module : "";
}

/* The stack of lines with most of the bytes of a stack of functions. */
static uint32_t lines_of_stack(const struct screen_table *table, uint32_t stack) {
  const struct call_tree *lines = &table->lines.tree;
  uint32_t best = 0;
  for (size_t i = 0; i < table->view->report->samples->row_count; i++) {
    uint32_t node = lines->node_of_row[i];
    if (table->functions.tree.node_of_row[i] != stack || node == NO_NODE) continue;
    if (!best || lines->nodes[node].self.bytes.total > lines->nodes[best].self.bytes.total) best = node;
  }
  return best;
}

static void describe_stack(struct screen_table *table, const struct group *group, struct described *what) {
  const struct call_tree *lines = &table->lines.tree;
  uint32_t node = lines_of_stack(table, group->label), label[STACK_MOST];
  size_t count = 0;
  const struct group innermost = {.label = lines->nodes[node].label};
  table_name(&table->functions, group, what->name, sizeof what->name);
  if (lines->labels[innermost.label].line)
    write_place(table->view, lines, &innermost, 1, what->place, sizeof what->place);
  while (node && (node = lines->nodes[node].parent) && count < STACK_MOST)
    label[count++] = lines->nodes[node].label;
  what->lines = report_say_stack(&what->callers, table->view, lines, label, count, STACK_LINES,
                                 (size_t)text_width() - CALLERS_INDENT);
}

static void describe(struct screen_table *table, const struct row_of_screen *row, struct described *what) {
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
  if (table->has_lines && !row->mapped) {
    size_t count;
    const struct group *line = main_line(&table->lines.tree, label, &count);
    if (line) write_place(view, &table->lines.tree, line, count, what->place, sizeof what->place);
    if (line && line->self.bytes.total >= ONE_LINE * group->self.bytes.total) of = &table->line, group = line;
  }
  if (grouping == BY_FUNCTION || grouping == BY_LINE) {
    what->module = module_worth_naming(view, label, what->place);
    if (!strcmp(what->name, "main") || view->options->order == SITES_BY_TOTAL) return;
    chains_follow(&of->chains, group, &chain);
    report_say_callers_briefly(&what->callers, view, of->tree, &chain);
  }
}

/* Prints callers on the rest of a line; those that have no room are left out. */
static void print_cut(const char *text, int columns) {
  size_t length = strlen(text), fits = text_that_fits(text, length, (size_t)columns);
  if (fits < length) fits = text_that_fits(text, length, columns > 1 ? (size_t)columns - 1 : 0);
  text_style(stdout, STYLE_DIM);
  text_plain(stdout, text, fits);
  if (fits < length) fputs("…", stdout);
  text_style(stdout, STYLE_PLAIN);
}

static bool fits_one_line(const struct described *what, int room) {
  size_t columns = text_columns(what->name) + text_columns(what->place) + text_columns(what->callers.text) +
                   (*what->place ? 2 : 0) + (*what->module ? text_columns(what->module) + 4 : 0) +
                   (what->callers.length ? 1 : 0);
  return (int)columns <= room;
}

static int lines_of(const struct described *what, int room) {
  return 1 + (!what->callers.length || fits_one_line(what, room) ? 0 : what->lines ? what->lines : 1);
}

static void print_stack(const char *lines) {
  putchar('\n');
  text_style(stdout, STYLE_DIM);
  for (const char *line = lines; *line; line += strcspn(line, "\n"), line += *line == '\n') {
    printf("%*s", CALLERS_INDENT, "");
    text_plain(stdout, line, strcspn(line, "\n"));
    putchar('\n');
  }
  text_style(stdout, STYLE_PLAIN);
}

static void print_row(struct screen_table *table, const struct row_of_screen *row,
                      const struct described *what, int room) {
  char fitted[REPORT_NAME_MOST + FITTED_MOST], suffix[PLACE_MOST + 2] = "";
  print_numbers(table, row);
  if (*what->place) snprintf(suffix, sizeof suffix, "  %s", what->place);
  name_fit_module(fitted, sizeof fitted, what->name, suffix, what->module, (size_t)room);
  text_name(stdout, fitted);
  if (what->lines && !fits_one_line(what, room)) {
    print_stack(what->callers.text);
    return;
  }
  if (what->callers.length) {
    if (fits_one_line(what, room))
      fputc(' ', stdout);
    else
      printf("\n%*s", SCREEN_TABLE_INDENT, "");
    int used = fits_one_line(what, room) ? (int)text_columns(fitted) + 1 : 0;
    print_cut(what->callers.text, room - used);
  }
  putchar('\n');
}

static void print_rest(struct screen_table *table, const struct sums *rest, size_t count) {
  char bytes[32], share[32], text[64];
  const struct report *report = table->view->report;
  struct estimate estimate = report_bytes(report, rest);
  double whole = table->whole.bytes.total;
  if (!count || estimate.estimate <= 0) return;
  print_cell(text_bytes(bytes, estimate.estimate), 10);
  print_dim("", 7);
  print_cell(text_share(share, whole > 0 ? estimate.estimate / whole : 0), 7);
  printf("%*s", SCREEN_TABLE_INDENT - 24, "");
  text_style(stdout, STYLE_DIM);
  snprintf(text, sizeof text, "more %s", grouping_name(table->view->options->grouping));
  puts(text_number_of((char[64]){0}, (double)count, text));
  text_style(stdout, STYLE_PLAIN);
}

static void print_header(const struct screen_table *table, const char *title) {
  bool held = table->functions.measure == MEASURE_HELD;
  putchar('\n');
  text_style(stdout, STYLE_BOLD);
  puts(title);
  text_style(stdout, STYLE_DIM);
  printf("%10s%8s%7s%9s%10s  %s\n", "bytes", "±", "share",
         held || table->view->report->samples->collected ? "blocks" : "calls",
         !held          ? "lives"
         : table->grows ? "trend"
                        : "",
         has_stack_rows(table->view) ? "stack" : grouping_name(table->view->options->grouping));
  text_style(stdout, STYLE_PLAIN);
}

static void subtract(struct sums *rest, const struct sums *shown) {
  rest->bytes.total -= shown->bytes.total;
  rest->bytes.samples -=
      shown->bytes.samples < rest->bytes.samples ? shown->bytes.samples : rest->bytes.samples;
}

static wn_status print_rows(struct screen_table *table, const char *title, int lines, int *printed) {
  enum sites_order order = table->view->options->order;
  struct sums rest = table->whole;
  struct described what;
  size_t others, shown = 0;
  int room = text_width() - SCREEN_TABLE_INDENT;
  wn_status error = choose(table, &others);
  if (error) return error;
  print_header(table, title);
  *printed = 3;
  if (room < 20) room = 20;
  for (; shown < table->count; shown++) {
    describe(table, &table->rows[shown], &what);
    int taken = lines_of(&what, room);
    if (shown && !table->view->options->top && *printed + taken > lines - 1) break;
    print_row(table, &table->rows[shown], &what, room);
    subtract(&rest, sites_sums(order, table->rows[shown].group));
    *printed += taken;
  }
  if (order == SITES_BY_TOTAL) return WN_OK; /* whose rows have blocks in common */
  print_rest(table, &rest, others - shown);
  ++*printed;
  return WN_OK;
}

/* ---- shared ---- */

wn_status screen_print_table(const struct view *view, const char *title, enum measure measure, int lines,
                             int *printed) {
  struct screen_table table;
  *printed = 0;
  wn_status error = table_make(&table, view, measure);
  if (!error && (table.functions.tree.group_count || table.has_mappings))
    error = print_rows(&table, title, lines, printed);
  table_free(&table);
  return error;
}

wn_status screen_place(const struct view *view, enum measure measure, const struct label *label, char *buffer,
                       size_t size) {
  struct table lines;
  size_t count;
  *buffer = 0;
  wn_status error = report_table(view->report, measure, BY_WHOLE_LINE, TABLE_SUMS, &lines);
  if (error) return error;
  const struct group *line = main_line(&lines.tree, label, &count);
  if (line) write_place(view, &lines.tree, line, 1, buffer, size);
  table_destroy(&lines);
  return WN_OK;
}

/* Code without a name is called "module+0x12". */
static bool has_no_name(const struct view *view, const struct label *label) {
  const char *module = strings_text(view->report->names->strings, label->module),
             *function = strings_text(view->report->names->strings, label->function);
  size_t length = strlen(module);
  return length && !strncmp(function, module, length) && function[length] == '+';
}

wn_status screen_nameless(const struct view *view, enum measure measure, uint32_t *module, double *share) {
  struct table table;
  double nameless = 0, most = 0;
  *module = 0, *share = 0;
  wn_status error = report_table(view->report, measure, BY_FUNCTION, TABLE_SUMS, &table);
  if (error) return error;
  for (size_t i = 0; i < table.tree.group_count; i++) {
    const struct group *group = &table.tree.groups[i];
    const struct label *label = &table.tree.labels[group->label];
    if (!has_no_name(view, label)) continue;
    nameless += group->self.bytes.total;
    if (group->self.bytes.total > most) most = group->self.bytes.total, *module = label->module;
  }
  if (table.tree.nodes[0].total.bytes.total > 0) *share = nameless / table.tree.nodes[0].total.bytes.total;
  table_destroy(&table);
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
