/* The tables of the text report, and its call tree.
 *
 * No number stands without its interval and the count of samples that it rests on. So columns come and go in groups: a
 * terminal too narrow for a number with its interval does not show the number. Only where a trace has every block are there
 * no intervals, and more room for names.
 */
#include "cli/report_name.h"
#include "cli/report_text.h"
#include "cli/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_COLUMNS = 60, NAME_BUFFER = 1024 }; /* of a name in a paragraph; UTF-8, and room for the module */

/* ---- columns ---- */

/* How wide the name may be, and which numbers stand before it. */
struct columns {
  bool ranges; /* false: all is exact */
  bool share, self, life, words, dead, promoted, samples;
  int name;
};

enum {
  WIDTH_BYTES = 9,
  WIDTH_RANGE = 11,
  WIDTH_SHARE = 7,
  WIDTH_SHARE_RANGE = 8,
  WIDTH_LIFE = 12,
  WIDTH_LIFE_RANGE = 17,
  WIDTH_GENERATION = 10, /* shares of blocks' fates; the names of the columns are longer */
  WIDTH_SAMPLES = 9,
  WIDTH_GAP = 2,
  NAME_LEAST = 36,
  NAME_LEAST_FATES = 24,
  SUFFIX_LEAST = 28,
  SAMPLES_LEAST = 20, /* the samples are part of every number: they go last */
  STACK_LEAST = 12    /* its names stand on lines of their own */
};

static int width_before_name(const struct columns *columns) {
  bool ranges = columns->ranges;
  return WIDTH_GAP + WIDTH_BYTES + WIDTH_RANGE * ranges +
         (WIDTH_SHARE + WIDTH_SHARE_RANGE * ranges) * columns->share +
         (WIDTH_BYTES + WIDTH_RANGE * ranges + WIDTH_SAMPLES) * columns->self +
         (WIDTH_LIFE + WIDTH_LIFE_RANGE * ranges) * columns->life +
         (WIDTH_LIFE + WIDTH_RANGE * ranges) * columns->words +
         (WIDTH_GENERATION + WIDTH_SHARE_RANGE * ranges) * (columns->dead + columns->promoted) +
         WIDTH_SAMPLES * columns->samples;
}

/* A narrow terminal drops the least needed numbers first. */
static void choose_columns(struct columns *columns, int name_least) {
  bool *const order[] = {&columns->share, &columns->self,     &columns->life,   &columns->words,
                         &columns->dead,  &columns->promoted, &columns->samples};
  enum { DROPS = sizeof order / sizeof *order };
  for (int dropped = 0;; dropped++) {
    columns->name = text_width() - width_before_name(columns);
    int least = dropped == DROPS - 1 && name_least > SAMPLES_LEAST ? SAMPLES_LEAST : name_least;
    if (columns->name >= least || dropped == DROPS) return;
    *order[dropped] = false;
  }
}

static bool has_ranges(const struct report *report) {
  return trace_reader_run(report->samples->reader)->rate < 1;
}

/* Prints a text to the left of a column as wide as it is with ranges, or nothing without. */
static void print_range(const struct columns *columns, const char *text, int width) {
  if (!columns->ranges) return;
  putchar(' ');
  text_pad(stdout, text, width - 1);
}

static void print_bytes(const struct columns *columns, const struct estimate *bytes) {
  char text[32];
  text_pad(stdout, text_bytes(text, bytes->estimate), -WIDTH_BYTES);
  print_range(columns, text_short_range(text, bytes), WIDTH_RANGE);
}

static void print_share(const struct columns *columns, const struct estimate *share) {
  char text[32];
  text_pad(stdout, text_share(text, share->estimate), -WIDTH_SHARE);
  print_range(columns, text_share_range(text, share), WIDTH_SHARE_RANGE);
}

static void print_samples(uint64_t samples) {
  char text[32];
  text_pad(stdout, text_count(text, (double)samples), -WIDTH_SAMPLES);
}

/* A function without a sampled block of its own has no number there. */
static void print_self(const struct columns *columns, const struct estimate *self) {
  if (self->samples) {
    print_bytes(columns, self);
    print_samples(self->samples);
    return;
  }
  text_pad(stdout, "–", -WIDTH_BYTES);
  print_range(columns, "", WIDTH_RANGE);
  text_pad(stdout, "–", -WIDTH_SAMPLES);
}

/* "3.84 us–22.0 us", "> 3.84 us" where the samples give no upper end. */
static const char *life_range(char buffer[80], const struct life *life) {
  char low[32], high[32];
  *buffer = 0;
  if (!life->samples) return buffer;
  if (life->low == NO_BOUND) return strcpy(buffer, "too few");
  if (life->high == NO_BOUND)
    snprintf(buffer, 80, "> %s", text_time(low, life->low));
  else
    snprintf(buffer, 80, "%s–%s", text_time(low, life->low), text_time(high, life->high));
  return buffer;
}

/* Without an interval the median is no number to show, nor is it one where no block of the group's own has ended its life. */
static bool hides_median(const struct columns *columns, const struct life *life) {
  return !life->samples || (columns->ranges && life->low == NO_BOUND);
}

/* Half of the blocks live so long, or longer than could be seen. */
static void print_life(const struct columns *columns, struct table *table, const struct group *group) {
  struct life life = lifetimes_median(&table->lifetimes, group);
  char time[32], text[80];
  snprintf(text, sizeof text, "%s%s", life.known ? "" : "> ", text_time(time, life.median));
  text_pad(stdout, hides_median(columns, &life) ? "–" : text, -WIDTH_LIFE);
  print_range(columns, life_range(text, &life), WIDTH_LIFE_RANGE);
}

/* The same in bytes that were allocated meanwhile. */
static void print_word_life(const struct columns *columns, struct table *table, const struct group *group) {
  struct life life = lifetimes_median(&table->word_lives, group);
  struct estimate bytes = {8 * (double)life.median, 8 * (double)life.low, 8 * (double)life.high,
                           life.samples};
  char value[32], text[80];
  snprintf(text, sizeof text, "%s%s", life.known ? "" : "> ", text_bytes(value, bytes.estimate));
  text_pad(stdout, hides_median(columns, &life) ? "–" : text, -WIDTH_LIFE);
  if (!life.samples)
    *text = 0;
  else if (life.low == NO_BOUND)
    strcpy(text, "too few");
  else if (life.high == NO_BOUND)
    snprintf(text, sizeof text, "> %s", text_bytes(value, bytes.low));
  else
    text_short_range(text, &bytes);
  print_range(columns, text, WIDTH_RANGE);
}

/* The share of a fate among blocks that may have it; a dash if there is none of them. */
static void print_fate(const struct columns *columns, const struct estimate *share,
                       const struct sums *whole) {
  char text[32];
  bool any = whole->bytes.samples;
  text_pad(stdout, any ? text_share(text, share->estimate) : "–", -WIDTH_GENERATION);
  print_range(columns, any ? text_share_range(text, share) : "", WIDTH_SHARE_RANGE);
}

static void print_fates(const struct report *report, const struct columns *columns, struct table *table,
                        const struct group *group) {
  struct generations all = generations_of_group(report->samples, &table->tree, group, table->inside);
  struct estimate promoted = report_promoted_share(report, &all), dead = report_dead_share(report, &all);
  if (columns->promoted) print_fate(columns, &promoted, &all.minor);
  if (columns->dead) print_fate(columns, &dead, &all.settled);
  if (columns->words) print_word_life(columns, table, group);
}

static void print_fate_headers(const struct columns *columns) {
  if (columns->promoted) {
    text_pad(stdout, "promoted", -WIDTH_GENERATION);
    print_range(columns, "range", WIDTH_SHARE_RANGE);
  }
  if (columns->dead) {
    text_pad(stdout, "dead next", -WIDTH_GENERATION);
    print_range(columns, "range", WIDTH_SHARE_RANGE);
  }
  if (columns->words) {
    text_pad(stdout, "median life", -WIDTH_LIFE);
    print_range(columns, "95 % range", WIDTH_RANGE);
  }
}

static void print_header(const struct columns *columns, const char *name) {
  static const char range[] = "95 % range";
  text_pad(stdout, "total", -WIDTH_BYTES);
  print_range(columns, range, WIDTH_RANGE);
  if (columns->share)
    text_pad(stdout, "share", -WIDTH_SHARE), print_range(columns, "range", WIDTH_SHARE_RANGE);
  if (columns->samples) text_pad(stdout, "samples", -WIDTH_SAMPLES);
  if (columns->self) {
    text_pad(stdout, "self", -WIDTH_BYTES);
    print_range(columns, range, WIDTH_RANGE);
    text_pad(stdout, "samples", -WIDTH_SAMPLES);
  }
  if (columns->life) {
    text_pad(stdout, "median life", -WIDTH_LIFE);
    print_range(columns, range, WIDTH_LIFE_RANGE);
  }
  print_fate_headers(columns);
  char fitted[64];
  printf("  %s\n", name_fit(fitted, sizeof fitted, name, columns->name < 12 ? 12 : (size_t)columns->name));
}

/* ---- rows ---- */

static void print_name(const char *name, const char *suffix, const char *module, int columns) {
  char fitted[REPORT_NAME_MOST + NAME_BUFFER];
  name_fit_module(fitted, sizeof fitted, name, suffix, module, columns < 12 ? 12 : (size_t)columns);
  text_plain(stdout, fitted, strlen(fitted));
  putchar('\n');
}

static const char *module_of(const struct report *report, const struct call_tree *tree, uint32_t label) {
  if (tree->grouping == BY_MODULE || tree->grouping == BY_FILE) return "";
  const struct label *found = &tree->labels[tree->grouping == BY_STACK ? tree->nodes[label].label : label];
  const char *module = strings_text(&report->names.strings, found->module);
  const char *function = strings_text(&report->names.strings, found->function);
  return strncmp(function, module, strlen(module)) ? module : "";
}

enum { FRAMES_MOST = 12, FRAMES_INNER = 9 };

/* A whole stack on lines of its own; of a deep one the innermost frames and the outermost. */
static void print_stack(const struct report *report, const struct call_tree *tree, uint32_t node) {
  struct paragraph paragraph = {.length = 0};
  char frames[64];
  size_t depth = 0, at = 0;
  for (uint32_t outer = node; outer; outer = tree->nodes[outer].parent) depth++;
  for (; node; node = tree->nodes[node].parent, at++) {
    char name[REPORT_NAME_MOST];
    if (depth > FRAMES_MOST && at == FRAMES_INNER) say(&paragraph, " < (%zu more)", depth - FRAMES_MOST);
    if (depth > FRAMES_MOST && at >= FRAMES_INNER && at < depth - (FRAMES_MOST - FRAMES_INNER)) continue;
    call_tree_label(tree, &report->names, tree->nodes[node].label, name, sizeof name);
    char fitted[NAME_BUFFER];
    say(&paragraph, "%s%s", at ? " < " : "", name_fit(fitted, sizeof fitted, name, NAME_COLUMNS));
  }
  if (!depth) {
    puts("(no callstack)");
    return;
  }
  puts(text_number_of(frames, (double)depth, "frame"));
  text_paragraph(stdout, paragraph.text, 6);
}

/* The numbers that a row of a table or of the tree begins with. */
static void print_numbers(const struct report *report, const struct columns *columns,
                          const struct sums *total, const struct sums *all) {
  struct estimate bytes = report_bytes(report, total), share = report_share(report, total, all);
  print_bytes(columns, &bytes);
  if (columns->share) print_share(columns, &share);
  if (columns->samples) print_samples(bytes.samples);
}

/* `callers`: how many functions are always on the same stacks, and stand for nothing but this one. */
static void print_row(const struct report *report, struct table *table, const struct columns *columns,
                      const struct group *group, size_t callers) {
  char suffix[64] = "", name[REPORT_NAME_MOST];
  const struct call_tree *tree = &table->tree;
  struct estimate self = report_bytes(report, &group->self);
  print_numbers(report, columns, &group->total, &tree->nodes[0].total);
  if (columns->self) print_self(columns, &self);
  if (columns->life) print_life(columns, table, group);
  if (table_has_generations(table->kind)) print_fates(report, columns, table, group);
  fputs("  ", stdout);
  if (tree->grouping == BY_STACK) {
    print_stack(report, tree, group->label);
    return;
  }
  bool brief = columns->name < SUFFIX_LEAST;
  if (callers)
    snprintf(suffix, sizeof suffix, " < +%zu%s%s", callers, brief ? "" : " caller",
             brief || callers == 1 ? "" : "s");
  report_group_name(report, tree, group, name, sizeof name);
  print_name(name, suffix, module_of(report, tree, group->label), columns->name);
}

/* A function on nearly every stack tells nothing about who is who: main, an interpreter's loop, a wrapper of malloc. */
static bool is_common(const struct call_tree *tree, const struct group *group) {
  if (tree->grouping != BY_FUNCTION && tree->grouping != BY_LINE) return false;
  return (double)group->total.bytes.samples >= 0.995 * (double)tree->nodes[0].total.bytes.samples;
}

enum { COMMON_NAMED = 8 };

static const struct group *group_of(const struct call_tree *tree, uint32_t label) {
  for (size_t i = 0; i < tree->group_count; i++)
    if (tree->groups[i].label == label) return &tree->groups[i];
  return NULL;
}

/* The callee through which most went; 0 at the end. */
static uint32_t largest_child(const struct call_tree *tree, uint32_t node) {
  uint32_t largest = 0;
  for (uint32_t child = tree->nodes[node].first_child; child; child = tree->nodes[child].next_sibling)
    if (!largest || tree->nodes[child].total.bytes.total > tree->nodes[largest].total.bytes.total)
      largest = child;
  return largest;
}

static size_t count_common(const struct call_tree *tree) {
  size_t common = 0;
  for (size_t i = 0; i < tree->group_count; i++) common += is_common(tree, &tree->groups[i]);
  return common;
}

/* Names the common functions in one paragraph, callers first, along the largest path. Returns how many they are; 0 if
 * they are all there is. */
static size_t print_common(const struct report *report, const struct call_tree *tree) {
  size_t common = count_common(tree), named = 0;
  if (!common || common == tree->group_count) return 0;
  struct paragraph paragraph = {.length = 0};
  say(&paragraph, "On nearly every stack:");
  for (uint32_t node = largest_child(tree, 0); node && named < COMMON_NAMED;
       node = largest_child(tree, node)) {
    const struct group *group = group_of(tree, tree->nodes[node].label);
    if (!group || !is_common(tree, group)) continue;
    char name[REPORT_NAME_MOST];
    report_group_name(report, tree, group, name, sizeof name);
    char fitted[NAME_BUFFER];
    say(&paragraph, "%s %s", named++ ? " >" : "", name_fit(fitted, sizeof fitted, name, NAME_COLUMNS));
  }
  if (common > named) say(&paragraph, " and %zu more", common - named);
  text_paragraph(stdout, paragraph.text, 0);
  return common;
}

/* Prints a row for each group, or for each chain of functions that always call each other. */
static void print_rows(const struct report *report, struct table *table, const struct columns *columns,
                       bool hide_common) {
  const struct call_tree *tree = &table->tree;
  size_t rows = 0;
  for (size_t i = 0, chain; i < tree->group_count; i += chain) {
    size_t innermost = i;
    chain = tree->grouping == BY_FUNCTION ? call_tree_chain(tree, i, &innermost) : 1;
    if (hide_common && is_common(tree, &tree->groups[i])) continue;
    if (rows++ < report->options->top) print_row(report, table, columns, &tree->groups[innermost], chain - 1);
  }
  if (rows > report->options->top)
    printf("    … and %zu more (--top %zu)\n", rows - report->options->top, rows);
}

static void print_groups(const struct report *report, struct table *table) {
  static const char *const names[] = {"function", "line", "file", "module", "stack, innermost first"};
  const struct call_tree *tree = &table->tree;
  bool fates = table_has_generations(table->kind);
  struct columns columns = {.ranges = has_ranges(report),
                            .share = true,
                            .self = tree->grouping != BY_STACK && table->kind == TABLE_SUMS,
                            .life = table->kind == TABLE_LIVES,
                            .words = table->kind == TABLE_ALLOCATED,
                            .dead = table->kind == TABLE_PROMOTED,
                            .promoted = fates,
                            .samples = true};
  choose_columns(&columns, tree->grouping == BY_STACK ? STACK_LEAST : fates ? NAME_LEAST_FATES : NAME_LEAST);
  size_t common = print_common(report, tree);
  print_header(&columns, names[tree->grouping]);
  print_rows(report, table, &columns, common > 0);
}

/* ---- the tree ---- */

static int by_node_total(const void *a, const void *b, void *context) {
  const struct call_tree *tree = context;
  double left = tree->nodes[*(const uint32_t *)a].total.bytes.total,
         right = tree->nodes[*(const uint32_t *)b].total.bytes.total;
  return (left < right) - (left > right);
}

/* Never inlined: its buffer must not stand on the stack once for each level of the tree. */
__attribute__((noinline)) static void print_child(const struct report *report, const struct call_tree *tree,
                                                  const struct columns *columns,
                                                  const struct tree_node *child, int indent) {
  char name[REPORT_NAME_MOST];
  call_tree_label(tree, &report->names, child->label, name, sizeof name);
  print_numbers(report, columns, &child->total, &tree->nodes[0].total);
  printf("  %*s", indent, "");
  print_name(name, "", "", columns->name - indent);
}

/* Children below one percent of everything are not shown. */
static void print_children(const struct report *report, const struct call_tree *tree,
                           const struct columns *columns, uint32_t node, int depth) {
  size_t count = 0;
  int most = columns->name > 15 ? (columns->name - 12) / 2 : 0, indent = depth < most ? depth : most;
  for (uint32_t child = tree->nodes[node].first_child; child; child = tree->nodes[child].next_sibling)
    count++;
  uint32_t *children = malloc((count + 1) * sizeof *children);
  if (!children) return;
  count = 0;
  double least = tree->nodes[0].total.bytes.total / 100;
  for (uint32_t child = tree->nodes[node].first_child; child; child = tree->nodes[child].next_sibling)
    if (tree->nodes[child].total.bytes.total >= least && tree->nodes[child].total.bytes.samples)
      children[count++] = child;
  qsort_r(children, count, sizeof *children, by_node_total, (void *)tree);
  for (size_t i = 0; i < count; i++) {
    const struct tree_node *child = &tree->nodes[children[i]];
    print_child(report, tree, columns, child, indent);
    print_children(report, tree, columns, children[i], depth + (count > 1));
  }
  free(children);
}

/* What has no callstack stands beside the outermost callers. */
static void print_bare(const struct report *report, const struct call_tree *tree,
                       const struct columns *columns) {
  const struct tree_node *root = &tree->nodes[0];
  if (!root->self.bytes.samples || root->self.bytes.total < root->total.bytes.total / 100) return;
  print_numbers(report, columns, &root->self, &root->total);
  puts("  (no callstack)");
}

/* ---- shared ---- */

wn_status report_print_table(const struct report *report, const char *title, const char *behind,
                             question *ask, enum table_kind kind) {
  struct table table;
  wn_status error = report_table(report, ask, kind, &table);
  if (error) return error;
  const struct sums *total = &table.tree.nodes[0].total;
  struct paragraph paragraph = {.length = 0};
  say(&paragraph, "%s: ", title);
  if (total->bytes.samples)
    say_amount(&paragraph, report, total);
  else
    say(&paragraph, "nothing that was sampled");
  say(&paragraph, "%s", behind);
  putchar('\n');
  text_paragraph(stdout, paragraph.text, 0);
  if (table.tree.group_count) print_groups(report, &table);
  report_table_destroy(&table);
  return WN_OK;
}

wn_status report_print_tree(const struct report *report) {
  struct call_tree tree;
  struct columns columns = {.ranges = has_ranges(report), .share = true, .samples = true};
  enum grouping grouping = report->options->grouping == BY_STACK ? BY_FUNCTION : report->options->grouping;
  wn_status error =
      call_tree_build(report->samples, &report->names, grouping, report_held, (void *)report, &tree);
  if (error) return error;
  choose_columns(&columns, NAME_LEAST);
  putchar('\n');
  text_paragraph(stdout, "Call tree of it, callers first; paths below 1 % are left out", 0);
  print_header(&columns, "function");
  print_children(report, &tree, &columns, 0, 0);
  print_bare(report, &tree, &columns);
  call_tree_destroy(&tree);
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
