/* Prints the parts of resident memory (analysis/resident.h) in one line, and tables of the
 * functions that mapped it.
 *
 * The parts are those of a measured moment. If the kernel counted a much larger size than any
 * measured one, they are not the parts of that size, and only the size is printed. The same holds
 * if records are missing, since the parts would not add up.
 */
#include "cli/report_resident.h"

#include "cli/report_callers.h"
#include "cli/report_name.h"
#include "cli/report_processes.h"
#include "cli/text.h"
#include <string.h>

enum { MAPPED_ROWS = 10, NAME_MOST = 4096, WIDTH_BYTES = 9, WIDTH_COUNT = 9 };

/* Mappings and stacks below this share of resident memory have no table. */
static const double worth_a_table = 0.01;

/* ---- the table ---- */

/* The columns of a table. A table of stacks has no mapped size, which says nothing about stacks; a
 * table of mappings has no resident size if that could not be measured. */
struct layout {
  bool resident, mapped;
  const char *what, *who;
};
static const struct layout stacks_layout = {true, false, "stacks", "  started by"};

static void print_amounts(const struct sums *sums, const struct layout *layout) {
  char text[32];
  if (layout->resident) text_pad(stdout, text_bytes(text, sums->bytes.total), -WIDTH_BYTES);
  if (layout->mapped) text_pad(stdout, text_bytes(text, sums->blocks.total), -WIDTH_BYTES);
  text_pad(stdout, text_count(text, (double)sums->bytes.samples), -WIDTH_COUNT);
  fputs("  ", stdout);
}

static int room_for_names(const struct layout *layout) {
  return text_width() - (layout->resident + layout->mapped) * WIDTH_BYTES - WIDTH_COUNT - 2;
}

static void print_site(const struct view *view, const struct call_tree *tree, const struct group *group,
                       struct chains *chains, const struct layout *layout) {
  struct paragraph paragraph = {.length = 0};
  char name[NAME_MOST], fitted[NAME_MOST];
  struct chain chain;
  chains_follow(chains, group, &chain);
  call_tree_label(tree, view->report->names, group->label, name, sizeof name);
  if (strcmp(name, "main")) report_say_callers(&paragraph, view, tree, &chain, 0);
  print_amounts(&group->self, layout);
  int room = room_for_names(layout);
  name_fit(fitted, sizeof fitted, name, (size_t)room);
  bool beside = (int)(text_columns(fitted) + text_columns(paragraph.text)) <= room;
  text_name(stdout, fitted);
  if (beside) text_name(stdout, paragraph.text);
  putchar('\n');
  if (!beside && paragraph.length) text_paragraph(stdout, paragraph.text + 1, CALLERS_INDENT);
}

static wn_status choose(const struct view *view, const struct call_tree *tree, struct sites *sites) {
  struct sites_options options = {.order = SITES_BY_SELF,
                                  .most = view->options->top ? view->options->top : MAPPED_ROWS,
                                  .least = view->options->top ? 0 : 0.01,
                                  .last = true};
  return sites_choose(tree, &options, sites);
}

static wn_status print_sites(const struct view *view, const struct call_tree *tree,
                             const struct layout *layout) {
  struct chains chains;
  struct sites sites;
  wn_status error = choose(view, tree, &sites);
  if (error) return error;
  if (!(error = chains_create(tree, &chains))) {
    text_style(stdout, STYLE_DIM);
    if (layout->resident) text_pad(stdout, "resident", -WIDTH_BYTES);
    if (layout->mapped) text_pad(stdout, "mapped", -WIDTH_BYTES);
    text_pad(stdout, layout->what, -WIDTH_COUNT);
    fputs(layout->who, stdout);
    text_style(stdout, STYLE_PLAIN);
    putchar('\n');
    for (size_t i = 0; i < sites.count; i++) print_site(view, tree, sites.shown[i].group, &chains, layout);
    if (sites.rest_count) {
      print_amounts(&sites.rest, layout);
      report_print_rest(sites.rest_count, "function", sites.count + sites.rest_count, room_for_names(layout));
    }
    chains_destroy(&chains);
  }
  sites_destroy(&sites);
  return error;
}

static wn_status print_table(const struct view *view, const struct resident *resident) {
  struct call_tree tree;
  struct paragraph title = {.length = 0};
  char time[32], bytes[32], more[32];
  const struct layout layout = {resident->measured, true, "mappings", "  mapped by"};
  double touched = resident->mapped_private + resident->mapped_files;
  wn_status error = resident_tree(view->report, resident, RESIDENT_MAPPINGS, view->options->grouping, &tree);
  if (error) return error;
  say(&title, "Mapped by the program itself, outside malloc, after %s: %s",
      text_time(time, resident->time_ns), text_bytes(bytes, resident->mapped_bytes));
  if (resident->measured)
    say(&title, ", of which %s was resident", text_bytes(more, touched));
  else
    say(&title, "; how much of it was resident could not be measured");
  putchar('\n');
  report_print_title(title.text);
  if (tree.group_count) error = print_sites(view, &tree, &layout);
  call_tree_destroy(&tree);
  return error;
}

static wn_status print_stacks(const struct view *view, const struct resident *resident) {
  struct call_tree tree;
  struct paragraph title = {.length = 0};
  char time[32], bytes[32];
  wn_status error = resident_tree(view->report, resident, RESIDENT_STACKS, view->options->grouping, &tree);
  if (error) return error;
  say(&title,
      "Stacks of threads, after %s: %s was resident; that of the first thread is listed by what used it",
      text_time(time, resident->time_ns), text_bytes(bytes, resident->stack_bytes));
  putchar('\n');
  report_print_title(title.text);
  if (tree.group_count) error = print_sites(view, &tree, &stacks_layout);
  call_tree_destroy(&tree);
  return error;
}

/* ---- the line ---- */

/* A part below this share of resident memory is not mentioned, but for the first. */
static const double worth_a_word = 0.002;

static void say_part(struct paragraph *line, const struct resident_part *part, bool first) {
  char text[128];
  const struct estimate *bytes = &part->bytes;
  const char *sign = first ? "" : bytes->estimate < 0 ? " minus " : " + ";
  struct estimate positive = *bytes;
  if (bytes->estimate < 0) positive = (struct estimate){.estimate = -bytes->estimate};
  if (bytes->low <= 0 && bytes->high > 0)
    say(line, "%sless than %s %s", sign, text_bytes(text, bytes->high), part->text);
  else
    say(line, "%s%s %s", sign, with_range(text, &positive), part->text);
}

static void say_parts(struct paragraph *line, const struct view *view, const struct resident *resident) {
  struct resident_parts parts = resident_parts(view->report, resident);
  char time[32], text[32];
  double least = worth_a_word * (double)resident->rss_bytes;
  bool peak = view->report->at == AT_PEAK;
  say(line, "Resident after %s%s: %s = ", text_time(time, resident->time_ns),
      resident->counted || !peak ? "" : ", the most that was measured",
      text_bytes(text, (double)resident->rss_bytes));
  for (int i = 0; i < RESIDENT_PARTS; i++) {
    const struct resident_part *part = &parts.part[i];
    if (part->text && (i == PART_BLOCKS || part->bytes.high >= least || part->bytes.estimate <= -least))
      say_part(line, part, i == PART_BLOCKS);
  }
  say(line, ".");
  if (resident->most_bytes > resident->rss_bytes + resident->rss_bytes / 100)
    say(line, " The most resident was %s.", text_bytes(text, (double)resident->most_bytes));
  if (report_has_processes(view))
    say(line,
        " All of these are sums over the processes that ran then, each with its last measurement; memory "
        "that several share, such as code, is counted once for each.");
}

static void say_whole(struct paragraph *line, const struct view *view, const struct resident *resident) {
  char text[32], time[32];
  say(line, "Resident: %s%s", text_bytes(text, (double)resident->most_bytes),
      resident->counted ? " at most, by the kernel's count; " : ", the most that was measured; ");
  if (view->report->recording->partial) {
    say(line, "its parts are not known, since records are missing.");
    return;
  }
  say(line, "its parts were not measured then.");
  if (resident->rss_bytes)
    say(line, " The largest size that was measured was %s, after %s.",
        text_bytes(text, (double)resident->rss_bytes), text_time(time, resident->time_ns));
}

static void print_line(const struct view *view, const struct resident *resident) {
  struct paragraph line = {.length = 0};
  bool of_most = view->report->at == AT_PEAK;
  if (view->report->recording->partial || (of_most && resident->counted && !resident->explained))
    say_whole(&line, view, resident);
  else
    say_parts(&line, view, resident);
  putchar('\n');
  text_paragraph(stdout, line.text, 0);
}

/* ---- shared ---- */

wn_status report_print_resident(const struct view *view) {
  struct resident resident = report_resident(view->report);
  if (!resident.most_bytes) return WN_OK;
  print_line(view, &resident);
  if (!resident.rss_bytes) return WN_OK;
  double touched = resident.mapped_private + resident.mapped_files;
  double size = resident.measured ? touched : resident.mapped_bytes;
  double least = worth_a_table * (double)resident.rss_bytes;
  wn_status error = size >= least ? print_table(view, &resident) : WN_OK;
  if (!error && resident.measured && resident.stack_bytes >= least) error = print_stacks(view, &resident);
  return error;
}
/* SPDX-License-Identifier: MIT */
