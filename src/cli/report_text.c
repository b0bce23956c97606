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

static void say_program(struct paragraph *paragraph, const struct report *report) {
  const struct trace_run *run = trace_reader_run(report->samples->reader);
  const char *command = run->command.length ? run->command.bytes : "The program";
  const char *name = strrchr(command, '/') ? strrchr(command, '/') + 1 : command;
  char time[32], bytes[128], count[32];
  struct estimate allocated = report_bytes(report, &report->allocated);
  say(paragraph, "%s ran for %s and allocated %s in %s blocks", name,
      text_time(time, report->samples->end_ns), with_range(bytes, &allocated),
      text_count(count, report_blocks(report, &report->allocated).estimate));
  if (report->query) say(paragraph, " that match the query");
  say(paragraph, ". ");
}

static void say_peak(struct paragraph *paragraph, const struct report *report) {
  char bytes[128], time[32], rss[32];
  struct estimate peak = report_bytes(report, &report->peak.live),
                  end = report_bytes(report, &report->live_at_end);
  struct memory_point beside = timeline_memory_at(report->samples, report->peak.time_ns);
  struct memory_point most = timeline_peak_memory(report->samples);
  say(paragraph, "It held the most after %s: %s", text_time(time, report->peak.time_ns),
      with_range(bytes, &peak));
  if (most.rss_bytes) {
    say(paragraph, ", when %s was resident", text_bytes(rss, (double)beside.rss_bytes));
    say(paragraph, " (the most resident was %s)", text_bytes(rss, (double)most.rss_bytes));
  }
  say(paragraph, ". ");
  if (end.samples)
    say(paragraph, "At the end %s was still allocated. ", with_range(bytes, &end));
  else
    say(paragraph, "At the end nothing of it was still allocated, as far as the sample shows. ");
}

static void say_churn(struct paragraph *paragraph, const struct report *report) {
  char time[32];
  double all = report->allocated.bytes.total, brief = report->brief.bytes.total;
  if (all <= 0) return;
  say(paragraph, "%.0f %% of the bytes allocated lived less than %s. ", 100 * brief / all,
      text_time(time, report->brief_ns));
}

static void say_sample(struct paragraph *paragraph, const struct report *report) {
  const struct trace_run *run = trace_reader_run(report->samples->reader);
  const struct trace_damage *damage = trace_reader_damage(report->samples->reader);
  char count[32];
  say(paragraph, "Sampled: %s blocks, at %g a word",
      text_count(count, (double)report->samples->sampled_blocks), run->rate);
  if (damage->records_lost)
    say(paragraph, "; %s records were lost", text_count(count, (double)damage->records_lost));
  if (damage->chunks_damaged)
    say(paragraph, "; %s damaged pieces of the trace were left out",
        text_count(count, (double)damage->chunks_damaged));
  say(paragraph, ".");
  if (!report->samples->ended)
    say(paragraph, " The program was killed or left by _exit: its last moments may be missing.");
}

static void print_verdict(const struct report *report) {
  struct paragraph paragraph = {.length = 0};
  say_program(&paragraph, report);
  if (report->samples->sampled_blocks) {
    say_peak(&paragraph, report);
    say_churn(&paragraph, report);
  }
  say_sample(&paragraph, report);
  text_paragraph(stdout, paragraph.text);
}

/* Cuts a name to what is left of the line, at a character. */
static void print_name(const char *name, const char *module, int columns) {
  char line[NAME_MOST + 256];
  snprintf(line, sizeof line, "%s%s%s%s", name, *module ? "  [" : "", module, *module ? "]" : "");
  if ((int)text_columns(line) <= columns) {
    puts(line);
    return;
  }
  size_t at = 0;
  for (int column = 0; line[at] && column < columns - 1; column++) do
      at++;
    while (((unsigned char)line[at] & 0xc0) == 0x80);
  line[at] = 0;
  printf("%s…\n", line);
}

static const char *module_of(const struct report *report, const struct call_tree *tree, uint32_t label) {
  if (tree->grouping == BY_MODULE || tree->grouping == BY_FILE) return "";
  const struct label *found = &tree->labels[tree->grouping == BY_STACK ? tree->nodes[label].label : label];
  const char *module = strings_text(&report->names.strings, found->module);
  const char *function = strings_text(&report->names.strings, found->function);
  return strncmp(function, module, strlen(module)) ? module : "";
}

static void print_row(const struct report *report, const struct call_tree *tree, const struct group *group) {
  char bytes[32], range[64], count[32], name[NAME_MOST];
  struct estimate total = report_bytes(report, &group->total);
  double all = tree->nodes[0].total.bytes.total;
  text_pad(stdout, text_bytes(bytes, total.estimate), -9);
  printf(" %5.1f %%  ", all > 0 ? 100 * total.estimate / all : 0);
  text_pad(stdout, text_range(range, &total), 20);
  text_pad(stdout, text_bytes(bytes, group->self.bytes.total), -9);
  text_pad(stdout, text_count(count, (double)total.samples), -9);
  fputs("  ", stdout);
  report_group_name(report, tree, group, name, sizeof name);
  print_name(name, module_of(report, tree, group->label), text_width() - 59);
}

/* A function on nearly every stack tells nothing about who is who: main, an interpreter's loop, a wrapper of malloc. */
static bool is_common(const struct call_tree *tree, const struct group *group) {
  if (tree->grouping != BY_FUNCTION && tree->grouping != BY_LINE) return false;
  return (double)group->total.bytes.samples >= 0.995 * (double)tree->nodes[0].total.bytes.samples;
}

/* Names the common functions in one line. Returns how many. */
static size_t print_common(const struct report *report, const struct call_tree *tree) {
  size_t common = 0;
  struct paragraph paragraph = {.length = 0};
  say(&paragraph, "On nearly every stack:");
  for (size_t i = 0; i < tree->group_count; i++) {
    if (!is_common(tree, &tree->groups[i])) continue;
    char name[NAME_MOST];
    report_group_name(report, tree, &tree->groups[i], name, sizeof name);
    say(&paragraph, "%s %s", common++ ? "," : "", name);
  }
  if (common && common < tree->group_count) text_paragraph(stdout, paragraph.text);
  return common < tree->group_count ? common : 0;
}

static void print_groups(const struct report *report, const struct call_tree *tree) {
  size_t common = print_common(report, tree), shown = 0;
  printf(
      "    total    share  95 %% range               self  samples  %s\n",
      (const char *const[]){"function", "line", "file", "module", "stack, innermost first"}[tree->grouping]);
  for (size_t i = 0; i < tree->group_count && shown < report->options->top; i++) {
    if (common && is_common(tree, &tree->groups[i])) continue;
    print_row(report, tree, &tree->groups[i]);
    shown++;
  }
  size_t left = tree->group_count - common - shown;
  if (left) printf("    … and %zu more (--top %zu)\n", left, tree->group_count - common);
}

static wn_status print_table(const struct report *report, const char *title, question *ask) {
  struct call_tree tree;
  wn_status error =
      call_tree_build(report->samples, &report->names, report->options->grouping, ask, (void *)report, &tree);
  if (error) return error;
  struct estimate all = report_bytes(report, &tree.nodes[0].total);
  char bytes[128], count[32];
  if (all.samples)
    printf("\n%s: %s in %s blocks\n", title, with_range(bytes, &all),
           text_count(count, tree.nodes[0].total.blocks.total));
  else
    printf("\n%s: nothing that was sampled\n", title);
  if (tree.group_count) print_groups(report, &tree);
  call_tree_destroy(&tree);
  return WN_OK;
}

/* ---- the tree ---- */

static int by_node_total(const void *a, const void *b, void *context) {
  const struct call_tree *tree = context;
  double left = tree->nodes[*(const uint32_t *)a].total.bytes.total,
         right = tree->nodes[*(const uint32_t *)b].total.bytes.total;
  return (left < right) - (left > right);
}

/* Children below one percent of everything are not shown. */
static void print_children(const struct report *report, const struct call_tree *tree, uint32_t node,
                           int depth) {
  size_t count = 0;
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
    char bytes[32], name[NAME_MOST];
    call_tree_label(tree, &report->names, child->label, name, sizeof name);
    text_pad(stdout, text_bytes(bytes, child->total.bytes.total), -9);
    printf(" %5.1f %%  %*s", 100 * child->total.bytes.total / tree->nodes[0].total.bytes.total, depth, "");
    print_name(name, "", text_width() - 20 - depth);
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
  printf("\nCall tree of it, callers first; paths below 1 %% are left out\n");
  print_children(report, &tree, 0, 0);
  call_tree_destroy(&tree);
  return WN_OK;
}

/* ---- shared ---- */

wn_status report_print_text(const struct report *report) {
  char held[128], time[32], lasting[128], brief[128];
  static const char *const when[] = {" (the peak)", " (the end)", ""};
  print_verdict(report);
  snprintf(held, sizeof held, "Held after %s%s", text_time(time, report->asked.time_ns),
           when[report->options->at]);
  snprintf(brief, sizeof brief, "Churn: lived less than %s", text_time(time, report->brief_ns));
  snprintf(lasting, sizeof lasting, "Long-lived: at least %s", text_time(time, report->long_ns));
  wn_status error = print_table(report, held, report_held);
  if (!error && report->options->tree) error = print_tree(report);
  if (!error) error = print_table(report, brief, report_churn);
  if (!error) error = print_table(report, "Still alive at the end", report_alive);
  if (!error) error = print_table(report, lasting, report_lasting);
  if (!error && report->names.hint) printf("\n%s\n", report->names.hint);
  return error;
}
/* SPDX-License-Identifier: MIT */
