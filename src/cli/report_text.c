/* The report as people read it: one paragraph of verdict, then tables. */
#include "cli/report.h"

#include "cli/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MOST = 4096 };

struct paragraph {
  char text[4096];
  size_t length;
};

__attribute__((format(printf, 2, 3))) static void say(struct paragraph *paragraph, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  size_t room = sizeof paragraph->text - paragraph->length;
  int written = vsnprintf(paragraph->text + paragraph->length, room, format, arguments);
  va_end(arguments);
  if (written > 0) paragraph->length += (size_t)written < room ? (size_t)written : room - 1;
}

/* "98.1 MB (92.0 – 104 MB)" */
static const char *with_range(char buffer[128], const struct estimate *estimate) {
  char value[32], range[64];
  text_bytes(value, estimate->estimate);
  if (estimate->low == estimate->high)
    snprintf(buffer, 128, "%s", value);
  else
    snprintf(buffer, 128, "%s (%s)", value, text_range(range, estimate));
  return buffer;
}

static const char *program_name(const struct report *report) {
  const struct trace_run *run = trace_reader_run(report->samples->reader);
  if (!run->command.length || !run->command.bytes[0]) return "The program";
  const char *slash = strrchr(run->command.bytes, '/');
  return slash && slash[1] ? slash + 1 : run->command.bytes;
}

static void say_program(struct paragraph *paragraph, const struct report *report) {
  char time[32], bytes[128], count[64];
  struct estimate allocated = report_bytes(report, &report->allocated);
  say(paragraph, "%s ran for %s", program_name(report), text_time(time, report->samples->end_ns));
  if (!report->samples->sampled_blocks) {
    say(paragraph, ", and no block was sampled: ");
    if (allocated.high > 0)
      say(paragraph, "so it allocated less than %s, most likely. ", text_bytes(bytes, allocated.high));
    else
      say(paragraph, "the rate was 0. ");
    say(paragraph, "Record again with a higher --rate. ");
  } else if (!allocated.samples) {
    say(paragraph, "; none of the sampled blocks matches the query. ");
  } else {
    double seconds = (double)report->samples->end_ns / 1e9;
    say(paragraph, " and allocated %s in %s%s", with_range(bytes, &allocated),
        text_number_of(count, report_blocks(report, &report->allocated).estimate, "block"),
        report->query ? " that match the query" : "");
    if (seconds > 0) say(paragraph, ", %s a second", text_bytes(time, allocated.estimate / seconds));
    say(paragraph, ". ");
  }
}

static void say_peak(struct paragraph *paragraph, const struct report *report) {
  char bytes[128], time[32], rss[32];
  struct estimate peak = report_bytes(report, &report->peak.live);
  struct memory_point beside = timeline_memory_at(report->samples, report->peak.time_ns);
  struct memory_point most = timeline_peak_memory(report->samples);
  say(paragraph, "It held the most after %s: %s", text_time(time, report->peak.time_ns),
      with_range(bytes, &peak));
  if (most.rss_bytes) say(paragraph, ", when %s was resident", text_bytes(rss, (double)beside.rss_bytes));
  if (most.rss_bytes > beside.rss_bytes)
    say(paragraph, " (the most resident was %s)", text_bytes(rss, (double)most.rss_bytes));
  say(paragraph, ". ");
}

/* Whether a block that the query takes was freed. */
static bool is_freed(const struct row *row, void *context) {
  return row->last && row->died_ns != STILL_ALIVE && report_takes(row, context);
}

static void say_end(struct paragraph *paragraph, const struct report *report) {
  char bytes[128], time[32];
  struct estimate end = report_bytes(report, &report->live_at_end);
  double all = report->allocated.bytes.total, brief = report->brief.bytes.total;
  bool exact = trace_reader_run(report->samples->reader)->rate >= 1;
  if (!timeline_count(report->samples, is_freed, (void *)report))
    say(paragraph, "%s was freed. ", exact ? "Nothing" : "None of the sampled blocks");
  else if (end.samples)
    say(paragraph, "At the end %s was still allocated. ", with_range(bytes, &end));
  else
    say(paragraph, "At the end %s was still allocated. ", exact ? "nothing" : "no sampled block");
  if (all > 0 && brief > 0)
    say(paragraph, "%.0f %% of the bytes allocated lived less than %s. ", 100 * brief / all,
        text_time(time, report->brief_ns));
}

/* How the program ended, where that is not the usual way. */
static void say_ending(struct paragraph *paragraph, const struct report *report) {
  const struct samples *samples = report->samples;
  if (!samples->ended)
    say(paragraph,
        " The end was not recorded: the program was killed, left by _exit, or still runs; its last "
        "moments may be missing.");
  else if (samples->end.kind == TRACE_END_SIGNAL)
    say(paragraph, " The program was ended by signal %d (%s).", samples->end.code,
        strsignal(samples->end.code));
  else if (samples->end.kind == TRACE_END_LEFT)
    say(paragraph, " The program left by _exit(%d).", samples->end.code);
  else if (samples->end.kind == TRACE_END_EXEC)
    say(paragraph,
        " Then it became another program%s%s%s by exec, which is not in this trace; record "
        "--follow-children gives it one of its own.",
        samples->became ? " (" : "", samples->became ? samples->became : "", samples->became ? ")" : "");
  else if (samples->end.kind == TRACE_END_STOP)
    say(paragraph, " Then recording was stopped.");
}

/* True if records are missing, so that no number is exact. */
static bool is_incomplete(const struct report *report) {
  const struct trace_damage *damage = trace_reader_damage(report->samples->reader);
  return damage->records_lost || damage->chunks_damaged;
}

static void say_sample(struct paragraph *paragraph, const struct report *report) {
  const struct trace_run *run = trace_reader_run(report->samples->reader);
  const struct trace_damage *damage = trace_reader_damage(report->samples->reader);
  char count[64];
  text_number_of(count, (double)report->samples->sampled_blocks, "block");
  if (run->rate >= 1 && !is_incomplete(report))
    say(paragraph, "Every block was recorded: %s", count);
  else
    say(paragraph, "Sampled: %s, at %g a word", count, run->rate);
  if (damage->records_lost)
    say(paragraph, "; lost: %s", text_number_of(count, (double)damage->records_lost, "record"));
  if (damage->chunks_damaged)
    say(paragraph, "; damaged and left out: %s of the trace",
        text_number_of(count, (double)damage->chunks_damaged, "piece"));
  if (report->samples->unmatched)
    say(paragraph, "; %s of unknown blocks",
        text_number_of(count, (double)report->samples->unmatched, "record"));
  say(paragraph, ".");
  if (is_incomplete(report))
    say(paragraph, " What is allocated is too low by what is missing, and what is held may be too high: "
                   "deaths are missing too.");
  say_ending(paragraph, report);
}

static void print_verdict(const struct report *report) {
  struct paragraph paragraph = {.length = 0};
  say_program(&paragraph, report);
  if (report->allocated.bytes.samples) {
    say_peak(&paragraph, report);
    say_end(&paragraph, report);
  }
  say_sample(&paragraph, report);
  text_paragraph(stdout, paragraph.text, 0);
}

/* ---- tables ---- */

/* Cuts a name to what is left of the line, at a character. */
static void print_name(const char *name, const char *module, int columns) {
  char line[NAME_MOST + 256];
  snprintf(line, sizeof line, "%s%s%s%s", name, *module ? "  [" : "", module, *module ? "]" : "");
  if (columns < 12) columns = 12;
  bool cut = (int)text_columns(line) > columns;
  if (cut) {
    size_t at = 0;
    for (int column = 0; line[at] && column < columns - 1; column++) do
        at++;
      while (((unsigned char)line[at] & 0xc0) == 0x80);
    line[at] = 0;
  }
  text_plain(stdout, line, strlen(line));
  puts(cut ? "…" : "");
}

static const char *module_of(const struct report *report, const struct call_tree *tree, uint32_t label) {
  if (tree->grouping == BY_MODULE || tree->grouping == BY_FILE) return "";
  const struct label *found = &tree->labels[tree->grouping == BY_STACK ? tree->nodes[label].label : label];
  const char *module = strings_text(&report->names.strings, found->module);
  const char *function = strings_text(&report->names.strings, found->function);
  return strncmp(function, module, strlen(module)) ? module : "";
}

/* The columns of a table, and how wide the name may be. A narrow terminal drops the least needed ones first. */
struct columns {
  bool self, samples, range, life;
  int name;
};

enum { WIDTH_FIXED = 21, WIDTH_RANGE = 20, WIDTH_OTHER = 9, WIDTH_LIFE = 13, NAME_LEAST = 34 };

static struct columns choose_columns(const struct table *table) {
  struct columns columns = {table->tree.grouping != BY_STACK, true, true, table->has_lives, 0};
  bool *const order[] = {&columns.self, &columns.samples, &columns.range, &columns.life};
  for (int dropped = 0;; dropped++) {
    columns.name = text_width() - WIDTH_FIXED - WIDTH_RANGE * columns.range -
                   WIDTH_OTHER * (columns.self + columns.samples) - WIDTH_LIFE * columns.life;
    if (columns.name >= NAME_LEAST || dropped == 4) return columns;
    *order[dropped] = false;
  }
}

static void print_header(const struct columns *columns, enum grouping grouping) {
  static const char *const names[] = {"function", "line", "file", "module", "stack, innermost first"};
  printf("    total   share  %s%s%s%s  ", columns->range ? "95 % range          " : "",
         columns->self ? "     self" : "", columns->samples ? "  samples" : "",
         columns->life ? "  median life" : "");
  print_name(names[grouping], "", columns->name);
}

/* Half of the blocks live so long, or longer than could be seen. */
static void print_life(struct table *table, const struct group *group) {
  uint64_t ns;
  char time[32], text[40];
  bool known = lifetimes_median(&table->lifetimes, group, &ns);
  snprintf(text, sizeof text, "%s%s", known ? "" : "> ", text_time(time, ns));
  text_pad(stdout, text, -WIDTH_LIFE);
}

enum { FRAMES_MOST = 12, FRAMES_INNER = 9 };

/* A whole stack on lines of its own; of a deep one the innermost frames and the outermost. */
static void print_stack(const struct report *report, const struct call_tree *tree, uint32_t node) {
  struct paragraph paragraph = {.length = 0};
  char frames[64];
  size_t depth = 0, at = 0;
  for (uint32_t outer = node; outer; outer = tree->nodes[outer].parent) depth++;
  for (; node; node = tree->nodes[node].parent, at++) {
    char name[NAME_MOST];
    if (depth > FRAMES_MOST && at == FRAMES_INNER) say(&paragraph, " < (%zu more)", depth - FRAMES_MOST);
    if (depth > FRAMES_MOST && at >= FRAMES_INNER && at < depth - (FRAMES_MOST - FRAMES_INNER)) continue;
    call_tree_label(tree, &report->names, tree->nodes[node].label, name, sizeof name);
    say(&paragraph, "%s%.200s", at ? " < " : "", name);
  }
  puts(text_number_of(frames, (double)depth, "frame"));
  text_paragraph(stdout, paragraph.text, 6);
}

static void print_row(const struct report *report, struct table *table, const struct columns *columns,
                      const struct group *group) {
  char text[64], name[NAME_MOST];
  const struct call_tree *tree = &table->tree;
  struct estimate total = report_bytes(report, &group->total);
  double all = tree->nodes[0].total.bytes.total;
  text_pad(stdout, text_bytes(text, total.estimate), -WIDTH_OTHER);
  printf(" %5.1f %%  ", all > 0 ? 100 * total.estimate / all : 0);
  if (columns->range) text_pad(stdout, text_range(text, &total), WIDTH_RANGE);
  if (columns->self) text_pad(stdout, text_bytes(text, group->self.bytes.total), -WIDTH_OTHER);
  if (columns->samples) text_pad(stdout, text_count(text, (double)total.samples), -WIDTH_OTHER);
  if (columns->life) print_life(table, group);
  fputs("  ", stdout);
  if (tree->grouping == BY_STACK) {
    print_stack(report, tree, group->label);
    return;
  }
  report_group_name(report, tree, group, name, sizeof name);
  print_name(name, module_of(report, tree, group->label), columns->name);
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
    char name[NAME_MOST];
    report_group_name(report, tree, group, name, sizeof name);
    say(&paragraph, "%s %.200s", named++ ? " >" : "", name);
  }
  if (common > named) say(&paragraph, " and %zu more", common - named);
  text_paragraph(stdout, paragraph.text, 0);
  return common;
}

static void print_groups(const struct report *report, struct table *table) {
  const struct call_tree *tree = &table->tree;
  struct columns columns = choose_columns(table);
  size_t common = print_common(report, tree), shown = 0;
  print_header(&columns, tree->grouping);
  for (size_t i = 0; i < tree->group_count && shown < report->options->top; i++) {
    if (common && is_common(tree, &tree->groups[i])) continue;
    print_row(report, table, &columns, &tree->groups[i]);
    shown++;
  }
  size_t left = tree->group_count - common - shown;
  if (left) printf("    … and %zu more (--top %zu)\n", left, tree->group_count - common);
}

static wn_status print_table(const struct report *report, const char *title, question *ask, bool lives) {
  struct table table;
  wn_status error = report_table(report, ask, lives, &table);
  if (error) return error;
  const struct sums *total = &table.tree.nodes[0].total;
  struct estimate all = report_bytes(report, total);
  char bytes[128], count[64];
  struct paragraph paragraph = {.length = 0};
  if (all.samples)
    say(&paragraph, "%s: %s in %s", title, with_range(bytes, &all),
        text_number_of(count, total->blocks.total, "block"));
  else
    say(&paragraph, "%s: nothing that was sampled", title);
  putchar('\n');
  text_paragraph(stdout, paragraph.text, 0);
  if (table.tree.group_count) print_groups(report, &table);
  report_table_destroy(&table);
  return WN_OK;
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
                                                  const struct tree_node *child, int indent) {
  char bytes[32], name[NAME_MOST];
  call_tree_label(tree, &report->names, child->label, name, sizeof name);
  text_pad(stdout, text_bytes(bytes, child->total.bytes.total), -9);
  printf(" %5.1f %%  %*s", 100 * child->total.bytes.total / tree->nodes[0].total.bytes.total, indent, "");
  print_name(name, "", text_width() - 20 - indent);
}

/* Children below one percent of everything are not shown. */
static void print_children(const struct report *report, const struct call_tree *tree, uint32_t node,
                           int depth) {
  size_t count = 0;
  int indent = depth < text_width() / 3 ? depth : text_width() / 3;
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
    print_child(report, tree, child, indent);
    print_children(report, tree, children[i], depth + (count > 1));
  }
  free(children);
}

static wn_status print_tree(const struct report *report) {
  struct call_tree tree;
  enum grouping grouping = report->options->grouping == BY_STACK ? BY_FUNCTION : report->options->grouping;
  wn_status error =
      call_tree_build(report->samples, &report->names, grouping, report_held, (void *)report, &tree);
  if (error) return error;
  putchar('\n');
  text_paragraph(stdout, "Call tree of it, callers first; paths below 1 % are left out", 0);
  print_children(report, &tree, 0, 0);
  call_tree_destroy(&tree);
  return WN_OK;
}

/* ---- shared ---- */

wn_status report_print_text(const struct report *report) {
  char held[128], time[32], lasting[128], brief[128];
  static const char *const when[] = {" (the peak)", " (the end)", ""};
  print_verdict(report);
  if (!report->allocated.bytes.samples) return WN_OK;
  snprintf(held, sizeof held, "Held after %s%s", text_time(time, report->asked.time_ns),
           when[report->options->at]);
  snprintf(brief, sizeof brief, "Churn: lived less than %s", text_time(time, report->brief_ns));
  snprintf(lasting, sizeof lasting, "Long-lived: at least %s", text_time(time, report->long_ns));
  wn_status error = print_table(report, held, report_held, false);
  if (!error && report->options->tree) error = print_tree(report);
  if (!error) error = print_table(report, brief, report_churn, true);
  if (!error) error = print_table(report, "Still alive at the end", report_alive, false);
  if (!error) error = print_table(report, lasting, report_lasting, true);
  if (!error && report->names.hint) {
    putchar('\n');
    text_paragraph(stdout, report->names.hint, 0);
  }
  return error;
}
/* SPDX-License-Identifier: MIT */
