/* What resident memory was made of when nearly the most was.
 *
 * The parts: malloc's blocks, which are estimated; what the program mapped itself, which is known,
 * with what of it was resident; stacks of threads, likewise; code and other files; and the rest of
 * the process's own memory: what malloc keeps besides blocks, data, small mappings and what the
 * recorder has itself. The rest is what is left over,
 * so it has the range of the estimate. Blocks that were never written are held and not resident:
 * where even the low end of what is held is more than there is, the line says so. Where what was
 * resident of the large mappings could not be measured, they are in the rest.
 *
 * Where the kernel counted far more than was ever measured, the parts of what was measured are not
 * those of the most, so they are not told; nor where records are missing, since they would not add
 * up then. */
#include "cli/report_resident.h"

#include "cli/report_callers.h"
#include "cli/report_name.h"
#include "cli/text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAPPED_ROWS = 10, NAME_MOST = 4096, WIDTH_BYTES = 9, WIDTH_COUNT = 9 };

/* Mappings below this share of what was resident are in the line, and have no table; what Winnow
 * has itself is not told. */
static const double worth_a_table = 0.01;

static bool takes_all(const struct row *row, void *unused) {
  (void)row, (void)unused;
  return true;
}

/* ---- the table ---- */

struct asked {
  const struct samples *samples;
  uint64_t time_ns;
  bool resident; /* else how much was mapped: what of it was resident is not known */
  bool stacks;   /* else what the program mapped itself */
};

/* In a tree of mappings, blocks count the bytes of addresses. */
static bool mapped_then(const struct row *row, struct share *share, void *context) {
  const struct asked *asked = context;
  double bytes = asked->resident ? mapped_resident(asked->samples, row, asked->time_ns) : (double)row->size;
  *share = (struct share){.bytes = bytes, .blocks = (double)row->size, .dependent = true};
  return row_is_live_at(row, asked->time_ns) && (row->source == TRACE_MAP_STACK) == asked->stacks;
}

static wn_status build(const struct report *report, const struct resident *resident, bool stacks,
                       struct call_tree *tree) {
  struct samples view = *report->samples; /* the mappings instead of the blocks */
  struct asked asked = {report->samples, resident->time_ns, resident->measured, stacks};
  enum grouping grouping = report->options->grouping;
  view.rows = report->samples->mapped.rows;
  view.row_count = report->samples->mapped.count;
  return call_tree_build(&view, &report->names, grouping == BY_STACK ? BY_FUNCTION : grouping, mapped_then,
                         &asked, tree);
}

/* Its columns: of a stack, how many addresses were mapped says nothing; of a mapping, how much of it
 * is resident may not be known. */
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

static void print_site(const struct report *report, const struct call_tree *tree, const struct group *group,
                       struct chains *chains, const struct layout *layout) {
  struct paragraph paragraph = {.length = 0};
  char name[NAME_MOST], fitted[NAME_MOST];
  struct chain chain;
  chains_follow(chains, group, &chain);
  call_tree_label(tree, &report->names, group->label, name, sizeof name);
  if (strcmp(name, "main")) report_say_callers(&paragraph, report, tree, &chain, 0);
  print_amounts(&group->self, layout);
  int room = room_for_names(layout);
  name_fit(fitted, sizeof fitted, name, (size_t)room);
  bool beside = (int)(text_columns(fitted) + text_columns(paragraph.text)) <= room;
  text_name(stdout, fitted);
  if (beside) text_name(stdout, paragraph.text);
  putchar('\n');
  if (!beside && paragraph.length) text_paragraph(stdout, paragraph.text + 1, CALLERS_INDENT);
}

static wn_status choose(const struct report *report, const struct call_tree *tree, struct sites *sites) {
  struct sites_options options = {.order = SITES_BY_SELF,
                                  .most = report->options->top ? report->options->top : MAPPED_ROWS,
                                  .least = report->options->top || report->options->json ? 0 : 0.01,
                                  .last = !report->options->json};
  return sites_choose(tree, &options, sites);
}

static wn_status print_sites(const struct report *report, const struct call_tree *tree,
                             const struct layout *layout) {
  struct chains chains;
  struct sites sites;
  wn_status error = choose(report, tree, &sites);
  if (error) return error;
  if (!(error = chains_create(tree, &chains))) {
    text_style(stdout, STYLE_DIM);
    if (layout->resident) text_pad(stdout, "resident", -WIDTH_BYTES);
    if (layout->mapped) text_pad(stdout, "mapped", -WIDTH_BYTES);
    text_pad(stdout, layout->what, -WIDTH_COUNT);
    fputs(layout->who, stdout);
    text_style(stdout, STYLE_PLAIN);
    putchar('\n');
    for (size_t i = 0; i < sites.count; i++) print_site(report, tree, sites.shown[i].group, &chains, layout);
    if (sites.rest_count) {
      print_amounts(&sites.rest, layout);
      report_print_rest(sites.rest_count, "function", sites.count + sites.rest_count, room_for_names(layout));
    }
    chains_destroy(&chains);
  }
  sites_destroy(&sites);
  return error;
}

static wn_status print_table(const struct report *report, const struct resident *resident) {
  struct call_tree tree;
  struct paragraph title = {.length = 0};
  char time[32], bytes[32], more[32];
  const struct layout layout = {resident->measured, true, "mappings", "  mapped by"};
  double touched = resident->mapped_private + resident->mapped_files;
  wn_status error = build(report, resident, false, &tree);
  if (error) return error;
  say(&title, "Mapped by the program itself, outside malloc, after %s: %s",
      text_time(time, resident->time_ns), text_bytes(bytes, resident->mapped_bytes));
  if (resident->measured)
    say(&title, ", of which %s was resident", text_bytes(more, touched));
  else
    say(&title, "; how much of it was resident could not be measured");
  putchar('\n');
  report_print_title(title.text);
  if (tree.group_count) error = print_sites(report, &tree, &layout);
  call_tree_destroy(&tree);
  return error;
}

static wn_status print_stacks(const struct report *report, const struct resident *resident) {
  struct call_tree tree;
  struct paragraph title = {.length = 0};
  char time[32], bytes[32];
  wn_status error = build(report, resident, true, &tree);
  if (error) return error;
  say(&title, "Stacks of threads, after %s: %s was resident; the first thread's has what used it",
      text_time(time, resident->time_ns), text_bytes(bytes, resident->stack_bytes));
  putchar('\n');
  report_print_title(title.text);
  if (tree.group_count) error = print_sites(report, &tree, &stacks_layout);
  call_tree_destroy(&tree);
  return error;
}

/* ---- the line ---- */

struct parts {
  struct sums held; /* malloc's blocks at that time, whatever the query */
  struct estimate rest;
  double unwritten; /* at least so much was held and is not resident */
};

static struct parts parts_of(const struct report *report, const struct resident *resident) {
  struct parts parts = {.held = timeline_live_at(report->samples, resident->time_ns, takes_all, NULL)};
  struct estimate held = report_bytes(report, &parts.held);
  double measured = resident->measured ? resident->mapped_private + resident->stack_bytes : 0;
  double room = resident->private_bytes - measured;
  parts.rest = (struct estimate){fmax(room - held.estimate, 0), fmax(room - held.high, 0),
                                 fmax(room - held.low, 0), held.samples, held.few_blocks};
  parts.unwritten = fmax(held.low - room, 0);
  return parts;
}

/* What is left over. */
static void say_rest(struct paragraph *line, const struct report *report, const struct resident *resident,
                     const struct parts *parts) {
  char text[128];
  const struct estimate *rest = &parts->rest;
  if (parts->unwritten > 0) {
    say(line, ", less at least %s that was held and %s.", text_bytes(text, parts->unwritten),
        resident->explained ? "never written" : "not written yet");
    return;
  }
  if (rest->low > 0)
    say(line, " + %s", with_range(text, rest));
  else
    say(line, " + less than %s", text_bytes(text, rest->high));
  say(line, " the rest: %s's free memory, %sdata and small mappings%s",
      report->collected ? "the heap" : "malloc",
      resident->measured && resident->stack_bytes > 0 ? "other stacks, " : "stacks, ",
      resident->measured || resident->mapped_bytes <= 0
          ? ""
          : ", and what of the large ones is resident, which could not be measured");
  if (resident->own_bytes >= rest->estimate)
    say(line, "; all of it may be Winnow's own");
  else if (resident->own_bytes >= worth_a_table * (double)resident->rss_bytes)
    say(line, "; about %s of it is Winnow's own", text_bytes(text, resident->own_bytes));
  say(line, ".");
}

static void say_parts(struct paragraph *line, const struct report *report, const struct resident *resident) {
  struct parts parts = parts_of(report, resident);
  struct estimate held = report_bytes(report, &parts.held);
  char time[32], bytes[128], text[32];
  double mapped = resident->measured ? resident->mapped_private + resident->mapped_files : 0;
  say(line, "Resident after %s%s: %s = ", text_time(time, resident->time_ns),
      resident->counted ? "" : ", the most that was measured", text_bytes(text, (double)resident->rss_bytes));
  if (held.samples || held.high <= 0)
    say(line, "%s ", with_range(bytes, &held));
  else
    say(line, "less than %s ", text_bytes(text, held.high));
  say(line, report->collected ? "in the collected heap's blocks" : "held by malloc's blocks");
  if (mapped > 0) say(line, " + %s mapped by the program itself", text_bytes(text, mapped));
  if (resident->measured && resident->stack_bytes > 0)
    say(line, " + %s stacks of threads", text_bytes(text, resident->stack_bytes));
  say(line, " + %s code and files", text_bytes(text, resident->files_bytes));
  say_rest(line, report, resident, &parts);
  if (resident->most_bytes > resident->rss_bytes + resident->rss_bytes / 100)
    say(line, " The most was %s.", text_bytes(text, (double)resident->most_bytes));
}

static void say_whole(struct paragraph *line, const struct report *report, const struct resident *resident) {
  char text[32], time[32];
  say(line, "Resident: %s%s", text_bytes(text, (double)resident->most_bytes),
      resident->counted ? " at most, by the kernel's count; " : ", the most that was measured; ");
  if (report_is_incomplete(report)) {
    say(line, "its parts are not known, since records are missing.");
    return;
  }
  say(line, "what it was made of then was not measured.");
  if (resident->rss_bytes)
    say(line, " The largest that was measured was %s, after %s.",
        text_bytes(text, (double)resident->rss_bytes), text_time(time, resident->time_ns));
}

static void print_line(const struct report *report, const struct resident *resident) {
  struct paragraph line = {.length = 0};
  if (report_is_incomplete(report) || (resident->counted && !resident->explained))
    say_whole(&line, report, resident);
  else
    say_parts(&line, report, resident);
  putchar('\n');
  text_paragraph(stdout, line.text, 0);
}

/* How much of the process's own memory is known to be for something. */
static struct estimate explained(const struct report *report, const struct resident *resident) {
  struct sums held = timeline_live_at(report->samples, resident->time_ns, takes_all, NULL);
  struct estimate bytes = report_bytes(report, &held);
  double mapped = resident->measured ? resident->mapped_private + resident->stack_bytes : 0;
  bytes.low += mapped;
  bytes.high += mapped;
  return bytes;
}

/* Whether more of the memory is explained at one moment than at another one, beyond doubt: what malloc
 * has kept after all was freed does not say what it was for. Where more was held than there is, blocks
 * were not written, and explain nothing. */
static bool is_fuller(const struct report *report, const struct resident *one, const struct resident *other) {
  struct estimate left = explained(report, one), right = explained(report, other);
  return one->measured == other->measured && left.low > right.high && left.low <= one->private_bytes;
}

/* ---- shared ---- */

struct resident report_resident(const struct report *report) {
  struct peak all = report->peak; /* of the whole heap, whatever the query */
  if (report->query && peak_find(report->samples, NULL, NULL, &all)) all = report->peak;
  struct resident most = mapped_when_most_was_resident(report->samples),
                  full = mapped_when_nearly_most_was_resident(report->samples, all.median_ns);
  return is_fuller(report, &full, &most) ? full : most;
}

wn_status report_print_resident(const struct report *report) {
  struct resident resident = report_resident(report);
  if (!resident.most_bytes) return WN_OK;
  print_line(report, &resident);
  if (!resident.rss_bytes) return WN_OK;
  double touched = resident.mapped_private + resident.mapped_files;
  double size = resident.measured ? touched : resident.mapped_bytes;
  double least = worth_a_table * (double)resident.rss_bytes;
  wn_status error = size >= least ? print_table(report, &resident) : WN_OK;
  if (!error && resident.measured && resident.stack_bytes >= least) error = print_stacks(report, &resident);
  return error;
}

static wn_status json_mapped(struct json *json, const struct report *report, const struct resident *resident,
                             bool stacks) {
  struct call_tree tree;
  struct sites sites;
  wn_status error = build(report, resident, stacks, &tree);
  if (error) return error;
  if (!(error = choose(report, &tree, &sites))) {
    json_begin(json, stacks ? "stacks" : "mapped", '[');
    for (size_t i = 0; i < sites.count; i++) {
      const struct group *group = sites.shown[i].group;
      const struct label *label = &tree.labels[group->label];
      char name[NAME_MOST];
      call_tree_label(&tree, &report->names, group->label, name, sizeof name);
      json_begin(json, NULL, '{');
      json_string(json, "name", name);
      json_string(json, "module", strings_text(&report->names.strings, label->module));
      json_string(json, "file", strings_text(&report->names.strings, label->file));
      json_integer(json, "line", label->line);
      if (resident->measured)
        json_number(json, "resident_bytes", group->self.bytes.total);
      else
        json_null(json, "resident_bytes");
      json_number(json, "mapped_bytes", group->self.blocks.total);
      json_integer(json, stacks ? "threads" : "mappings", group->self.bytes.samples);
      json_end(json, '}');
    }
    json_end(json, ']');
    sites_destroy(&sites);
  }
  call_tree_destroy(&tree);
  return error;
}

wn_status report_json_resident(struct json *json, const struct report *report) {
  struct resident resident = report_resident(report);
  struct parts parts = parts_of(report, &resident);
  struct estimate held = report_bytes(report, &parts.held);
  bool partial = report_is_incomplete(report), explained = resident.explained && !partial;
  json_begin(json, "resident", '{');
  json_integer(json, "at_ns", resident.time_ns);
  json_integer(json, "rss_bytes", resident.rss_bytes);
  json_integer(json, "most_bytes", resident.most_bytes);
  json_bool(json, "counted", resident.counted);
  json_bool(json, "explained", explained);
  json_estimate(json, "held_bytes", &held);
  json_number(json, "mapped_bytes", resident.mapped_bytes);
  if (resident.measured) {
    json_number(json, "mapped_private_bytes", resident.mapped_private);
    json_number(json, "mapped_file_bytes", resident.mapped_files);
    json_number(json, "stack_bytes", resident.stack_bytes);
  } else {
    json_null(json, "mapped_private_bytes");
    json_null(json, "mapped_file_bytes");
    json_null(json, "stack_bytes");
  }
  json_number(json, "file_bytes", resident.files_bytes);
  if (partial)
    json_null(json, "other_bytes");
  else
    json_estimate(json, "other_bytes", &parts.rest);
  if (explained)
    json_number(json, "unwritten_bytes", parts.unwritten);
  else
    json_null(json, "unwritten_bytes");
  json_number(json, "winnow_bytes", resident.own_bytes);
  json_end(json, '}');
  wn_status error = json_mapped(json, report, &resident, false);
  return error ? error : json_mapped(json, report, &resident, true);
}
/* SPDX-License-Identifier: MIT */
