/* A trace in the Common Trace Format, which babeltrace2 reads: the life of every sampled block that
 * the user's query selects; with --at only of those that were held then.
 *
 * INTERVALS. A row of the samples is an interval in which a block's size does not change, and the
 * query selects rows. So an interval begins with `resize` if the query selects the one before it
 * too, and else with `allocate`. It ends with `die`, unless the one after it follows, or the trace
 * ends first. Sums over the intervals with their weights are therefore the report's totals.
 *
 * PLACES. A place is a function, line, file and module; it is described before the first stack that
 * has it. Stacks have all frames, also those of wrappers and those that the query hides. If the user
 * gave a grouping, a place is a group of the report instead, and stacks are those of the report. */
#include "export/formats.h"

#include "analysis/load/order.h"
#include "base/error.h"
#include "base/utf8.h"
#include "export/ctf_writer.h"
#include <stdlib.h>
#include <string.h>

enum step { BEGIN, PROMOTE, END, STEPS };
enum { TEXTS = 3 };

struct converting {
  const struct export *export;
  const struct samples *samples;
  const struct names *names;
  struct ctf_writer writer;
  bool *selected;              /* by row */
  bool *follows;               /* by row: the interval before it is its block's, and selected */
  bool *is_followed;           /* by row */
  uint32_t *place_of;          /* by frame of the names, or by label of the groups; 0: not described yet */
  struct export_stacks groups; /* if the user gave a grouping */
  struct strings *places;
  uint32_t *stack; /* room for the deepest */
};

static wn_status ctf_no_memory(void) { return error_set(WN_ENOMEM, "not enough memory for the trace"); }

/* ---- intervals ---- */

static bool is_selected(const struct converting *to, const struct row *row) {
  const struct report *report = to->export->report;
  if (row->probability <= 0 || !report_selects(row, (void *)(uintptr_t)report)) return false;
  return !to->export->moment_given ||
         (row->begin_ns <= report->asked.time_ns && report->asked.time_ns < row->end_ns);
}

/* False without memory. */
static bool join_intervals(struct converting *to) {
  const struct samples *samples = to->samples;
  size_t count;
  struct keyed *resized = samples_resized(samples, &count);
  bool done = resized;
  for (size_t i = 0; i < samples->row_count; i++) to->selected[i] = is_selected(to, &samples->rows[i]);
  for (size_t i = 1; done && i < count; i++) {
    uint32_t before = resized[i - 1].item, after = resized[i].item;
    if (resized[i - 1].key != resized[i].key || !to->selected[before] || !to->selected[after]) continue;
    to->is_followed[before] = to->follows[after] = true;
  }
  free(resized);
  return done;
}

/* When a row has a step; UINT64_MAX: never. */
static uint64_t ctf_time_of(const struct converting *to, size_t i, enum step step) {
  const struct row *row = &to->samples->rows[i];
  switch (step) {
  case BEGIN: return row->begin_ns;
  case PROMOTE:
    return row->promoted_ns >= row->begin_ns && (row->last || row->promoted_ns < row->end_ns)
               ? row->promoted_ns
               : UINT64_MAX;
  default: return to->is_followed[i] ? UINT64_MAX : row->end_ns;
  }
}

/* The steps of all intervals in the order of time; of equal times in that of enum step. NULL without
 * memory. */
static struct keyed *ctf_order_steps(const struct converting *to, size_t *count) {
  size_t rows = to->samples->row_count;
  struct keyed *steps = calloc(STEPS * rows + 1, sizeof *steps);
  *count = 0;
  if (!steps) return NULL;
  for (int step = 0; step < STEPS; step++)
    for (size_t i = 0; i < rows; i++) {
      uint64_t time_ns = to->selected[i] ? ctf_time_of(to, i, (enum step)step) : UINT64_MAX;
      if (time_ns != UINT64_MAX)
        steps[(*count)++] = (struct keyed){time_ns, (uint32_t)(STEPS * i) + (uint32_t)step};
    }
  return order_owned(steps, *count);
}

/* ---- places and stacks ---- */

/* Writes a text as UTF-8 without control characters. */
static const char *plain(const char *text, char buffer[STACK_LABEL_MOST]) {
  snprintf(buffer, STACK_LABEL_MOST, "%s", text);
  utf8_make_plain(buffer);
  return buffer;
}

static void describe_place(struct converting *to, const struct row *row, uint32_t number,
                           const struct frame *frame) {
  const struct strings *strings = to->names->strings;
  char texts[TEXTS][STACK_LABEL_MOST];
  const struct ctf_place place = {.place = number,
                                  .line = frame->line,
                                  .function = plain(strings_text(strings, frame->function), texts[0]),
                                  .file = plain(strings_text(strings, frame->file), texts[1]),
                                  .module = plain(strings_text(strings, frame->module), texts[2]),
                                  .inlined = frame->inlined};
  ctf_place(&to->writer, row->begin_ns, row->thread, &place);
}

/* The number of the place of a frame; 0 without memory. */
static uint32_t ctf_place_of(struct converting *to, const struct row *row, const struct frame *frame) {
  size_t at = (size_t)(frame - to->names->frame);
  uint32_t known = to->places->count, place = to->place_of[at];
  char key[80];
  if (place) return place;
  snprintf(key, sizeof key, "%u %u %u %u %d", frame->function, frame->module, frame->file, frame->line,
           frame->inlined);
  place = to->place_of[at] = strings_intern(to->places, key);
  if (place >= known) describe_place(to, row, place, frame);
  return place;
}

static uint32_t ctf_place_of_group(struct converting *to, const struct row *row, uint32_t label) {
  char text[STACK_LABEL_MOST], function[STACK_LABEL_MOST];
  if (to->place_of[label]) return to->place_of[label];
  export_stacks_label(&to->groups, label, text);
  const struct ctf_place place = {
      .place = label + 1, .function = plain(text, function), .file = "", .module = ""};
  ctf_place(&to->writer, row->begin_ns, row->thread, &place);
  return to->place_of[label] = place.place;
}

static void set_group_stack(struct converting *to, const struct row *row, uint32_t *depth) {
  struct export_stacks *groups = &to->groups;
  *depth = (uint32_t)export_stacks_path(groups, stack_values_owner(&groups->paths, row));
  for (uint32_t i = 0; i < *depth; i++)
    to->stack[i] = ctf_place_of_group(to, row, groups->paths.nodes[groups->path[i]].label);
}

/* Sets `stack` to the places of a row's stack, innermost first. False without memory. */
static bool set_stack(struct converting *to, const struct row *row, uint32_t *depth) {
  if (to->export->grouped) return set_group_stack(to, row, depth), true;
  *depth = 0;
  for (uint32_t node = row->stack; node; node = source_stack(to->samples->source, node).parent) {
    struct frames frames = names_of(to->names, node);
    for (size_t i = 0; i < frames.count; i++)
      if (!(to->stack[(*depth)++] = ctf_place_of(to, row, &frames.frame[i]))) return false;
  }
  return true;
}

static bool make_room_for_groups(struct converting *to) {
  const struct export *export = to->export;
  if (export_stacks_create(export->report, export->grouping, &to->groups)) return false;
  to->place_of = calloc(to->groups.paths.label_count, sizeof *to->place_of);
  to->stack = calloc(to->groups.paths.node_count, sizeof *to->stack);
  return to->place_of && to->stack;
}

/* Makes room for places and stacks. No node is its own caller, so a stack has at most all frames. */
static bool ctf_make_room(struct converting *to) {
  size_t frames = 1;
  if (to->export->grouped) return make_room_for_groups(to);
  for (uint32_t node = 1; node <= source_stack_count(to->samples->source); node++)
    frames += names_of(to->names, node).count;
  to->place_of = calloc(frames, sizeof *to->place_of);
  to->stack = calloc(frames, sizeof *to->stack);
  to->places = strings_create();
  return to->place_of && to->stack && to->places;
}

/* ---- events ---- */

static bool write_begin(struct converting *to, size_t i) {
  const struct row *row = &to->samples->rows[i];
  struct ctf_block block = {.block = row->block,
                            .size = row->size,
                            .weight = 1 / row->probability,
                            .area = row->area,
                            .call = row->call,
                            .stack = to->stack};
  if (!set_stack(to, row, &block.depth)) return false;
  if (to->follows[i])
    ctf_resize(&to->writer, row->begin_ns, row->thread, &block);
  else
    ctf_allocate(&to->writer, row->begin_ns, row->thread, &block);
  return true;
}

static bool ctf_write_step(struct converting *to, const struct keyed *step) {
  size_t i = step->item / STEPS;
  const struct row *row = &to->samples->rows[i];
  switch ((enum step)(step->item % STEPS)) {
  case BEGIN: return write_begin(to, i);
  case PROMOTE: ctf_promote(&to->writer, step->key, row->thread, row->block); return true;
  default: ctf_die(&to->writer, step->key, row->thread, row->block); return true;
  }
}

static void ctf_write_threads(struct converting *to) {
  char name[STACK_LABEL_MOST];
  for (size_t i = 0; i < to->samples->thread_count; i++)
    ctf_thread(&to->writer, to->samples->threads[i].thread, plain(to->samples->threads[i].name, name));
}

static bool ctf_write_steps(struct converting *to, FILE *out) {
  size_t count;
  struct keyed *steps = ctf_order_steps(to, &count);
  bool done = steps;
  ctf_writer_begin(&to->writer, out);
  if (done) ctf_write_threads(to);
  for (size_t i = 0; done && i < count && !ferror(out); i++) done = ctf_write_step(to, &steps[i]);
  ctf_writer_end(&to->writer);
  free(steps);
  return done && !to->writer.failed;
}

/* ---- the run ---- */

static void ctf_describe_run(const struct export *export) {
  const struct trace_run *run = source_run(export->report->samples->source);
  char command[EXPORT_COMMAND_MOST], host[256], where[STACK_LABEL_MOST], at[STACK_LABEL_MOST];
  export_command(export->report, command);
  snprintf(host, sizeof host, "%.*s", (int)run->host.length, run->host.length ? run->host.bytes : "");
  utf8_make_plain(host);
  const struct ctf_run about = {.program = command,
                                .host = host,
                                .where = plain(export->where ? export->where : "", where),
                                .at = plain(export->moment_given ? export->at : "", at),
                                .pid = run->pid,
                                .wall_ns = run->wall_ns,
                                .rate = run->rate};
  ctf_describe(export->files[1], &about);
}

/* ---- shared ---- */

wn_status export_ctf(FILE *out, const struct export *export) {
  const struct samples *samples = export->report->samples;
  struct converting to = {.export = export, .samples = samples, .names = export->report->names};
  to.selected = calloc(samples->row_count + 1, sizeof *to.selected);
  to.follows = calloc(samples->row_count + 1, sizeof *to.follows);
  to.is_followed = calloc(samples->row_count + 1, sizeof *to.is_followed);
  bool done = to.selected && to.follows && to.is_followed && ctf_make_room(&to) && join_intervals(&to) &&
              ctf_write_steps(&to, out);
  if (done) ctf_describe_run(export);
  free(to.selected);
  free(to.follows);
  free(to.is_followed);
  free(to.place_of);
  free(to.stack);
  export_stacks_destroy(&to.groups);
  if (to.places) strings_free(to.places);
  return done ? WN_OK : ctf_no_memory();
}
/* SPDX-License-Identifier: MIT */
