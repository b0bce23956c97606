/* Builds call paths.
 *
 * The stacks of a trace already form a tree of code addresses. Each node of that tree leads to one
 * node of the paths: the node of its caller, then one step for each function at the address, the
 * inlined ones last. When grouping by line, file or module, a step to the label of the node itself
 * stays at the node, as when two functions of one module call each other.
 *
 * Wrappers. A frame that allocates for its caller (wrappers.h) does not own what it allocates: a
 * stack belongs to the node of its innermost frame that is no wrapper. A stack that has only
 * wrappers belongs to its outermost frame.
 *
 * What is between languages (wrappers.c, interpreter.h) is left out unless nothing is known to call it.
 */
#include "analysis/load/call_paths.h"

#include "analysis/load/namesakes.h"
#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/index.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct building {
  struct call_paths *paths;
  const struct names *names;
  const struct samples *samples;
  struct index by_step; /* nodes, by their parent and label */
  struct index by_label;
  size_t label_capacity, node_capacity;
  struct stack_view view;
};

static struct label call_paths_label_of(const struct frame *frame, enum grouping grouping) {
  switch (grouping) {
  case BY_LINE:
  case BY_WHOLE_LINE: {
    struct label label = {frame->line ? frame->function : frame->place, .module = frame->module,
                          .file = frame->file, .line = frame->line};
    if (frame->line && grouping == BY_LINE)
      label.first_column = frame->first_column, label.last_column = frame->last_column;
    return label;
  }
  case BY_FILE: return (struct label){.module = frame->file ? 0 : frame->module, .file = frame->file};
  case BY_MODULE: return (struct label){.module = frame->module};
  case BY_FUNCTION:
  case BY_PROCESS:
  case BY_HOST:
  case BY_RELEASE:
  case BY_THREAD:
  case BY_TYPE:
  case BY_STACK: break;
  }
  return (struct label){.function = frame->function, .module = frame->module, .source = frame->file};
}

static bool call_paths_is_call(const struct building *building, const struct frame *frame) {
  return building->paths->grouping == BY_FUNCTION && frame->inlined &&
         builds_of(&building->names->builds, frame->function);
}

/* The number of a label; UINT32_MAX without memory. */
static uint32_t label_number(struct building *building, const struct label *label) {
  struct call_paths *paths = building->paths;
  uint64_t hash =
      hash_combine(hash_combine(label->function, label->module), hash_combine(label->file, label->line));
  struct index_walk walk = {.hash =
                                hash_combine(hash, (uint64_t)label->first_column << 32 | label->last_column)};
  uint32_t number;
  while ((number = index_next(&building->by_label, &walk)))
    if (label_is_same(&paths->labels[number], label)) break;
  if (number) {
    struct label *known = &paths->labels[number];
    if (!known->source) known->source = label->source;
    return number;
  }
  number = (uint32_t)paths->label_count;
  return ARRAY_ADD(paths->labels, paths->label_count, building->label_capacity, *label) &&
                 index_add(&building->by_label, walk.hash, number)
             ? number
             : UINT32_MAX;
}

/* The child of a node with a label, created if it does not exist; UINT32_MAX without memory. */
static uint32_t child_of(struct building *building, uint32_t parent, uint32_t label) {
  struct call_paths *paths = building->paths;
  if (parent && paths->nodes[parent].label == label && building->paths->grouping != BY_FUNCTION &&
      building->paths->grouping != BY_STACK)
    return parent;
  for (uint32_t at = building->view.fold ? parent : 0; at; at = paths->nodes[at].parent)
    if (paths->nodes[at].label == label) return at;
  struct index_walk walk = {.hash = hash_mix((uint64_t)parent << 32 | label)};
  uint32_t node;
  while ((node = index_next(&building->by_step, &walk)))
    if (paths->nodes[node].parent == parent && paths->nodes[node].label == label) return node;
  struct path_node added = {parent, label};
  node = (uint32_t)paths->node_count;
  return ARRAY_ADD(paths->nodes, paths->node_count, building->node_capacity, added) &&
                 index_add(&building->by_step, walk.hash, node)
             ? node
             : UINT32_MAX;
}

/* The node for a code address that `parent` calls. *own is the node that owns the caller's
 * stack (0: none yet) and becomes the node that owns this one. UINT32_MAX without memory. */
static uint32_t call_paths_step(struct building *building, uint32_t parent, uint32_t trace_node,
                                uint32_t *own) {
  struct frames frames = names_of(building->names, trace_node);
  bool begun = stack_view_begun(&building->view, source_stack(building->samples->source, trace_node).parent);
  for (size_t i = frames.count; i-- > 0 && parent != UINT32_MAX;) {
    size_t frame = (size_t)(frames.frame - building->names->frame) + i;
    if (!stack_view_shows(&building->view, frame, &begun) || (frames.frame[i].between && parent)) continue;
    struct label label = call_paths_label_of(&frames.frame[i], building->paths->grouping);
    label.call = call_paths_is_call(building, &frames.frame[i]);
    uint32_t number = label_number(building, &label);
    parent = number == UINT32_MAX ? UINT32_MAX : child_of(building, parent, number);
    if (!frames.frame[i].wrapper || !*own) *own = parent;
  }
  return parent;
}

static bool call_paths_prepare(struct building *building) {
  struct call_paths *paths = building->paths;
  paths->process_count = building->samples->process_count;
  paths->names = building->names;
  paths->samples = building->samples;
  paths->stack_count = grouping_is_process(paths->grouping) ? building->names->process_count
                       : paths->grouping == BY_THREAD       ? building->names->thread_count
                       : paths->grouping == BY_TYPE         ? building->names->type_count
                                                            : source_stack_count(building->samples->source);
  paths->node_of = calloc((size_t)paths->stack_count + 1, sizeof *paths->node_of);
  paths->own_of = calloc((size_t)paths->stack_count + 1, sizeof *paths->own_of);
  if (!paths->node_of || !paths->own_of ||
      !array_reserve(&paths->nodes, &building->node_capacity, 1, sizeof *paths->nodes))
    return false;
  paths->nodes[0] = (struct path_node){0, 0};
  paths->node_count = 1;
  /* The root's label is not in the index, so that no function gets the number 0, not even an
   * unknown one. */
  return ARRAY_ADD(paths->labels, paths->label_count, building->label_capacity, (struct label){0});
}

/* Callers in a trace have smaller numbers than what they call. */
static bool call_paths_add_stacks(struct building *building) {
  struct call_paths *paths = building->paths;
  for (uint32_t stack = 1; stack <= paths->stack_count; stack++) {
    uint32_t parent = source_stack(building->samples->source, stack).parent;
    if (parent >= stack) parent = 0;
    uint32_t own = paths->own_of[parent];
    uint32_t node = call_paths_step(building, paths->node_of[parent], stack, &own);
    if (node == UINT32_MAX) return false;
    paths->node_of[stack] = node;
    paths->own_of[stack] = own;
  }
  return true;
}

/* Processes have larger numbers than those that started them. */
static bool add_processes(struct building *building) {
  struct call_paths *paths = building->paths;
  const struct process_names *names = building->names->processes;
  for (uint32_t i = 0; i < paths->stack_count; i++) {
    uint32_t parent = building->samples->processes[i].parent;
    struct label label = {.function = names[i].numbered, .module = names[i].name};
    uint32_t number = label_number(building, &label);
    if (number == UINT32_MAX) return false;
    uint32_t node = child_of(building, parent < i ? paths->node_of[parent + 1] : 0, number);
    if (node == UINT32_MAX) return false;
    paths->node_of[i + 1] = paths->own_of[i + 1] = node;
  }
  return true;
}

/* Each host, release, thread or type is a path of its own. */
static bool add_alone(struct building *building, uint32_t place, const struct label *label) {
  uint32_t number = label_number(building, label);
  uint32_t node = number == UINT32_MAX ? UINT32_MAX : child_of(building, 0, number);
  if (node == UINT32_MAX) return false;
  building->paths->node_of[place] = building->paths->own_of[place] = node;
  return true;
}

static bool add_origins(struct building *building) {
  for (uint32_t i = 0; i < building->paths->stack_count; i++) {
    const struct process_names *names = &building->names->processes[i];
    struct label label = {.function = building->paths->grouping == BY_HOST ? names->host : names->release};
    if (!add_alone(building, i + 1, &label)) return false;
  }
  return true;
}

static bool add_threads(struct building *building) {
  const uint32_t *names = building->names->threads;
  for (uint32_t i = 0; i < building->paths->stack_count; i++)
    if (!add_alone(building, i + 1, &(struct label){.function = names[2 * i], .module = names[2 * i + 1]}))
      return false;
  return true;
}

static bool call_paths_add_types(struct building *building) {
  for (uint32_t i = 1; i <= building->paths->stack_count; i++)
    if (!add_alone(building, i, &(struct label){.function = building->names->types[i]})) return false;
  return true;
}

static bool add_places(struct building *building) {
  switch (building->paths->grouping) {
  case BY_PROCESS: return add_processes(building);
  case BY_HOST:
  case BY_RELEASE: return add_origins(building);
  case BY_THREAD: return add_threads(building);
  case BY_TYPE: return call_paths_add_types(building);
  default: return call_paths_add_stacks(building);
  }
}

/* Writes "function (file:line)", or "function (file:line:first-last)" where columns are known. If that is
 * too long for the buffer, the function is cut, not the place. */
static void call_paths_write_place(char *buffer, size_t size, const char *function, const char *file,
                                   const struct label *label) {
  char columns[32] = "";
  struct namesake_parts parts = {file, (int)strlen(function), (int)strlen(file)};
  namesake_split(function, file, &parts);
  if (label->first_column) snprintf(columns, sizeof columns, ":%u", label->first_column);
  if (label->first_column && label->last_column > label->first_column)
    snprintf(columns, sizeof columns, ":%u-%u", label->first_column, label->last_column);
  int place = snprintf(NULL, 0, " (%.*s:%u%s)", parts.home_length, parts.home, label->line, columns);
  int room = (int)size - 1 - place;
  if (room < 0) room = 0;
  snprintf(buffer, size, "%.*s (%.*s:%u%s)", room < parts.name_length ? room : parts.name_length, function,
           parts.home_length, parts.home, label->line, columns);
}

/* ---- shared ---- */

bool label_is_same(const struct label *a, const struct label *b) {
  return !memcmp(a, b, offsetof(struct label, source));
}

const char *label_of_nothing(enum grouping grouping) {
  return grouping == BY_TYPE ? "(type not recorded)" : "(no callstack)";
}

const char *grouping_name(enum grouping grouping) {
  static const char *const names[GROUPINGS] = {
      [BY_FUNCTION] = "function", [BY_LINE] = "line",  [BY_FILE] = "file",       [BY_MODULE] = "module",
      [BY_PROCESS] = "process",   [BY_HOST] = "host",  [BY_RELEASE] = "release", [BY_THREAD] = "thread",
      [BY_TYPE] = "type",         [BY_STACK] = "stack"};
  return names[grouping];
}

bool stack_view_shows(const struct stack_view *view, size_t frame, bool *begun) {
  if (view->begins && view->begins[frame]) *begun = true;
  return *begun && !(view->hidden && view->hidden[frame]);
}

wn_status call_paths_create(const struct samples *samples, const struct names *names, enum grouping grouping,
                            const struct stack_view *view, struct call_paths *paths) {
  *paths = (struct call_paths){.grouping = grouping};
  struct building building = {.paths = paths, .names = names, .samples = samples};
  if (view) building.view = *view;
  bool done = call_paths_prepare(&building) && add_places(&building);
  free(building.by_step.slots);
  free(building.by_label.slots);
  if (done) return WN_OK;
  call_paths_destroy(paths);
  return error_set(WN_ENOMEM, "not enough memory for the call tree");
}

void call_paths_destroy(struct call_paths *paths) {
  free(paths->labels);
  free(paths->nodes);
  free(paths->node_of);
  free(paths->own_of);
  *paths = (struct call_paths){.nodes = NULL};
}

void label_text(const struct label *labels, uint32_t number, enum grouping grouping,
                const struct names *names, char *buffer, size_t size) {
  const struct label *label = &labels[number];
  const char *function = strings_text(names->strings, label->function);
  const char *module = strings_text(names->strings, label->module);
  const char *file = strings_text(names->strings, label->file);
  if (!number)
    snprintf(buffer, size, "%s", label_of_nothing(grouping));
  else if ((grouping == BY_LINE || grouping == BY_WHOLE_LINE) && label->line)
    call_paths_write_place(buffer, size, function, path_name(file), label);
  else if (*function)
    snprintf(buffer, size, "%s", function);
  else if (*file)
    snprintf(buffer, size, "%s", file);
  else
    snprintf(buffer, size, "%s", *module ? module : "(unknown)");
}
/* SPDX-License-Identifier: MIT */
