/* What became of the rows that only one of two runs has (FATE in comparison.h), in words too. */
#include "analysis/comparison.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The build of a label that is an address; NULL: the label is none. */
static const char *build_of(const struct names *names, const struct label *label) {
  uint32_t build = builds_of(&names->builds, label->function);
  return build ? strings_text(names->strings, build) : NULL;
}

/* ---- rows that may have moved ---- */

/* Sets nameless[module] for the files of which `other` has code without a name, in a build that the
 * recording does not have. Such code may have a name in the recording's own build. */
static void find_nameless(const struct names *names, const struct call_tree *other,
                          const struct names *other_names, bool *nameless) {
  for (size_t i = 1; i < other->label_count; i++) {
    uint32_t module;
    if (fate_is_foreign(&other->labels[i], other_names, names) &&
        strings_find(names->strings, strings_text(other_names->strings, other->labels[i].module), &module))
      nameless[module] = true;
  }
}

/* ---- the note ---- */

enum { NAMED_MODULES = 3 };

/* The files of some rows: the first by name, so that the order of the rows does not matter. */
struct noted {
  const char *modules[NAMED_MODULES];
  size_t count;
  bool more;
};

static void note_module(struct noted *noted, const char *module) {
  for (size_t i = 0; i < noted->count; i++) {
    int order = strcmp(module, noted->modules[i]);
    const char *later = noted->modules[i];
    if (!order) return;
    if (order < 0) noted->modules[i] = module, module = later;
  }
  if (noted->count < NAMED_MODULES)
    noted->modules[noted->count++] = module;
  else
    noted->more = true;
}

struct writing {
  char *text;
  size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct writing *writing, const char *format, ...) {
  va_list arguments;
  size_t room = COMPARISON_NOTE_MOST - writing->length;
  va_start(arguments, format);
  int length = vsnprintf(writing->text + writing->length, room, format, arguments);
  va_end(arguments);
  if (length > 0) writing->length += (size_t)length < room ? (size_t)length : room - 1;
}

/* "prog, libfoo.so and others". */
static void add_modules(struct writing *writing, const struct noted *noted) {
  for (size_t i = 0; i < noted->count; i++)
    add(writing, "%s%.100s",
        !i                                      ? ""
        : i + 1 == noted->count && !noted->more ? " and "
                                                : ", ",
        *noted->modules[i] ? noted->modules[i] : "code outside of files");
  if (noted->more) add(writing, " and others");
}

/* Looks for rows that may have moved, and for addresses that are in both runs though nothing says that
 * the builds are equal. */
static void look(const struct comparison *comparison, struct noted *moved, struct noted *unsure) {
  for (size_t i = 0; i < comparison->count; i++) {
    const struct compared *row = &comparison->rows[i];
    const struct table *table = comparison_table(comparison, row);
    const struct names *names = table->report->names;
    const struct label *label = table_label(table, compared_group(row));
    const char *build = build_of(names, label), *module = strings_text(names->strings, label->module);
    if (row->moved) note_module(moved, module);
    if (row->before && row->after && build && !build_is_sure(build)) note_module(unsure, module);
  }
}

static bool is_of_one_recording(const struct comparison *comparison) {
  return comparison->before->report->names == comparison->after->report->names;
}

/* ---- shared ---- */

bool fate_find(const struct call_tree *tree, const struct names *names, const struct call_tree *other,
               const struct names *other_names, bool *moved) {
  bool *nameless = calloc((size_t)names->strings->count + 1, sizeof *nameless);
  if (!nameless) return false;
  find_nameless(names, other, other_names, nameless);
  for (size_t i = 1; i < tree->label_count; i++) {
    const struct label *label = &tree->labels[i];
    moved[i] = fate_is_foreign(label, names, other_names) ||
               (!build_of(names, label) && label->function && nameless[label->module]);
  }
  free(nameless);
  return true;
}

bool fate_is_foreign(const struct label *label, const struct names *names, const struct names *other_names) {
  const char *build = build_of(names, label);
  return build && !builds_have(&other_names->builds, other_names->strings, build);
}

bool compared_is_address(const struct comparison *comparison, const struct compared *row) {
  const struct table *table = comparison_table(comparison, row);
  return build_of(table->report->names, table_label(table, compared_group(row))) != NULL;
}

const char *compared_fate(const struct comparison *comparison, const struct compared *row) {
  if ((row->before && row->after) || is_of_one_recording(comparison)) return "";
  if (row->before) return row->moved ? "gone or moved" : "gone";
  return row->moved ? "new or moved" : "new";
}

void comparison_note(const struct comparison *comparison, char note[COMPARISON_NOTE_MOST]) {
  struct noted moved = {.count = 0}, unsure = {.count = 0};
  struct writing writing = {note, 0};
  const char *what = comparison->after->tree.grouping == BY_LINE ? "line" : "name";
  *note = 0;
  if (is_of_one_recording(comparison)) return;
  look(comparison, &moved, &unsure);
  if (moved.count) {
    add(&writing, "The runs do not have the same build of ");
    add_modules(&writing, &moved);
    add(&writing,
        ", so code without a %s there is not matched: a row that is gone or moved may be the same code as "
        "one "
        "that is new or moved. If the files of both are kept, --search FOLDER may find %ss.",
        what, what);
  }
  if (!unsure.count) return;
  add(&writing, "%sThere is no build-id in ", moved.count ? " " : "");
  add_modules(&writing, &unsure);
  add(&writing,
      ", so it is not known whether both runs have the same build: code without a %s there is matched as if "
      "they had.",
      what);
}
/* SPDX-License-Identifier: MIT */
