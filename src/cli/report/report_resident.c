/* Prints tables of the functions that mapped resident memory themselves, or whose threads' stacks it is. */
#include "cli/report/report_resident.h"

#include "cli/report/report_callers.h"
#include "cli/report/report_name.h"
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

static void report_resident_print_site(const struct view *view, const struct call_tree *tree,
                                       const struct group *group, struct chains *chains,
                                       const struct layout *layout) {
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

static wn_status report_resident_choose(const struct view *view, const struct call_tree *tree,
                                        struct sites *sites) {
  struct sites_options options = {.order = SITES_BY_SELF,
                                  .most = view->options->top ? view->options->top : MAPPED_ROWS,
                                  .least = view->options->top ? 0 : 0.01,
                                  .last = true};
  return sites_choose(tree, &options, sites);
}

static wn_status report_resident_print_sites(const struct view *view, const struct call_tree *tree,
                                             const struct layout *layout) {
  struct chains chains;
  struct sites sites;
  wn_status error = report_resident_choose(view, tree, &sites);
  if (error) return error;
  if (!(error = chains_create(tree, &chains))) {
    text_style(stdout, STYLE_DIM);
    if (layout->resident) text_pad(stdout, "resident", -WIDTH_BYTES);
    if (layout->mapped) text_pad(stdout, "mapped", -WIDTH_BYTES);
    text_pad(stdout, layout->what, -WIDTH_COUNT);
    fputs(layout->who, stdout);
    text_style(stdout, STYLE_PLAIN);
    putchar('\n');
    for (size_t i = 0; i < sites.count; i++)
      report_resident_print_site(view, tree, sites.shown[i].group, &chains, layout);
    if (sites.rest_count) {
      print_amounts(&sites.rest, layout);
      report_print_rest(sites.rest_count, "function", sites.count + sites.rest_count, room_for_names(layout));
    }
    chains_destroy(&chains);
  }
  sites_destroy(&sites);
  return error;
}

static wn_status report_resident_print_table(const struct view *view, const struct resident *resident) {
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
  if (tree.group_count) error = report_resident_print_sites(view, &tree, &layout);
  call_tree_destroy(&tree);
  return error;
}

static wn_status report_resident_print_stacks(const struct view *view, const struct resident *resident) {
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
  if (tree.group_count) error = report_resident_print_sites(view, &tree, &stacks_layout);
  call_tree_destroy(&tree);
  return error;
}

/* ---- shared ---- */

wn_status report_print_resident(const struct view *view) {
  const struct resident *resident = &view->facts->resident;
  if (!resident->rss_bytes) return WN_OK;
  double touched = resident->mapped_private + resident->mapped_files;
  double size = resident->measured ? touched : resident->mapped_bytes;
  double least = worth_a_table * (double)resident->rss_bytes;
  wn_status error = size >= least ? report_resident_print_table(view, resident) : WN_OK;
  if (!error && resident->measured && resident->stack_bytes >= least)
    error = report_resident_print_stacks(view, resident);
  return error;
}
/* SPDX-License-Identifier: MIT */
