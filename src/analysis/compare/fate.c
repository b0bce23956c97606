/* What became of the rows that only one of two runs has (FATE in comparison.h), in words too. */
#include "analysis/compare/comparison.h"

#include "base/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The build of a label that is an address; NULL: the label is none. */
static const char *build_of(const struct names *names, const struct label *label) {
  uint32_t build = builds_of(&names->builds, label->function);
  return build ? strings_text(names->strings, build) : NULL;
}

/* ---- the files of labels ---- */

/* One of the runs. */
struct side {
  const struct call_tree *tree;
  const struct names *names;
  const uint32_t *matches; /* by label, as in struct matching */
  uint32_t *file;   /* by label: the number of its file, which is that of the same file in the other run */
  uint32_t program; /* the number of the program's file; 0: no label is of it */
};

/* A library keeps its name up to the version: libfoo.so.1 and libfoo.so.2 are one file. 0: code outside
 * of files, or not enough memory. */
static uint32_t number_file(struct strings *files, const char *module) {
  char *name = strndup(module, stem_length(module));
  uint32_t number = name ? strings_intern(files, name) : 0;
  free(name);
  return number;
}

/* Whether a file is the program that a run started: it has the name of the command, or that with a
 * version, as python3.13 for python3. */
static bool fate_is_program(const char *module, const struct trace_run *run) {
  const char *name = run->command.length ? path_name(run->command.bytes) : "";
  size_t length = strlen(name);
  return length && !strncmp(module, name, length) &&
         !module[length + strspn(module + length, "0123456789.-")];
}

static bool number_files(struct side *side, const struct table *table, struct strings *files) {
  side->file = calloc(side->tree->label_count + 1, sizeof *side->file);
  for (size_t i = 1; i < side->tree->label_count && side->file; i++) {
    const char *module = strings_text(side->names->strings, side->tree->labels[i].module);
    side->file[i] = number_file(files, module);
    if (*module && !side->file[i]) return false;
    if (fate_is_program(module, source_run(table->report->samples->source))) side->program = side->file[i];
  }
  return side->file != NULL;
}

static bool has_file(const struct side *side, uint32_t file) {
  for (size_t i = 1; i < side->tree->label_count; i++)
    if (side->file[i] == file) return true;
  return false;
}

/* A program that has another name in the other run is one file. Returns its number; 0: there is
 * none. */
static uint32_t join_programs(struct side *had, struct side *has) {
  uint32_t one = had->program, other = has->program;
  if (!one || !other || one == other || has_file(had, other) || has_file(has, one)) return 0;
  for (size_t i = 1; i < has->tree->label_count; i++)
    if (has->file[i] == other) has->file[i] = one;
  return one;
}

/* ---- rows that may have moved ---- */

/* Which unmatched labels a run has of a file. */
struct left_over {
  bool named;
  bool foreign; /* addresses in a build that the other run does not have */
  bool known;   /* addresses in a build that it has */
};

static void find_left_over(const struct side *side, const struct side *other, struct left_over *left) {
  for (size_t i = 1; i < side->tree->label_count; i++) {
    const struct label *label = &side->tree->labels[i];
    struct left_over *of = &left[side->file[i]];
    if (side->matches[i] != UNMATCHED || !label->function) continue;
    if (fate_is_foreign(label, side->names, other->names))
      of->foreign = true;
    else if (build_of(side->names, label))
      of->known = true;
    else
      of->named = true;
  }
}

/* Why a label without a match in the other run may be the same code there, under another name.
 * `left`, `other_left`: the kinds of labels of its file that its own run and the other run have without a
 * match. An address in a build that both runs know is no other address of that build: then nothing moved. */
static enum moved moved_of(const struct label *label, const struct side *side, const struct side *other,
                           const struct left_over *left, const struct left_over *other_left) {
  if (!label->function) return NOT_MOVED;
  if (fate_is_foreign(label, side->names, other->names))
    return other_left->named || other_left->foreign || other_left->known ? MOVED_BUILD : NOT_MOVED;
  if (build_of(side->names, label)) return other_left->named && !other_left->known ? MOVED_NAMES : NOT_MOVED;
  if (other_left->foreign) return MOVED_BUILD;
  return other_left->known && !left->known ? MOVED_NAMES : NOT_MOVED;
}

static void set_moved(const struct side *side, const struct side *other, const struct left_over *left,
                      const struct left_over *other_left, uint32_t renamed, enum moved *moved) {
  for (size_t i = 1; i < side->tree->label_count; i++) {
    uint32_t file = side->file[i];
    if (side->matches[i] != UNMATCHED) continue;
    moved[i] = moved_of(&side->tree->labels[i], side, other, &left[file], &other_left[file]);
    if (moved[i] == MOVED_BUILD && renamed && file == renamed) moved[i] = MOVED_PROGRAM;
  }
}

static bool find_fate(struct side *had, struct side *has, size_t files, enum moved *gone, enum moved *new) {
  struct left_over *before = calloc(files + 1, sizeof *before), *after = calloc(files + 1, sizeof *after);
  bool ready = before && after;
  uint32_t renamed = join_programs(had, has);
  if (ready) {
    find_left_over(had, has, before);
    find_left_over(has, had, after);
    set_moved(had, has, before, after, renamed, gone);
    set_moved(has, had, after, before, renamed, new);
  }
  free(before);
  free(after);
  return ready;
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

/* Looks for rows that may have moved, by the reason, and for addresses that are in both runs though
 * nothing says that the builds are equal. */
static void fate_look(const struct comparison *comparison, struct noted moved[MOVED_REASONS],
                      struct noted *unsure) {
  for (size_t i = 0; i < comparison->count; i++) {
    const struct compared *row = &comparison->rows[i];
    const struct table *table = comparison_table(comparison, row);
    const struct names *names = table->report->names;
    const struct label *label = table_label(table, compared_group(row));
    const char *build = build_of(names, label), *module = strings_text(names->strings, label->module);
    if (row->moved) note_module(&moved[row->moved], module);
    if (row->before && row->after && build && !build_is_sure(build)) note_module(unsure, module);
  }
}

static const char may_be_same[] =
    "a row that is gone or moved may be the same code as one that is new or moved";

/* `what`: "name" or "line". `known`: whether the builds of both runs are. */
static void add_builds(struct writing *writing, const struct noted *noted, const char *what, bool known) {
  if (!noted->count) return;
  add(writing, known ? "The runs do not have the same build of "
                     : "It is not known whether the runs have the same build of ");
  add_modules(writing, noted);
  add(writing, ", so code without a %s there is not matched: %s. ", what, may_be_same);
  add(writing, "If the files of both are kept, --search FOLDER may find %ss. ", what);
}

static void add_nameless(struct writing *writing, const struct noted *noted, const char *what) {
  if (!noted->count) return;
  add(writing, "In one of the runs code of ");
  add_modules(writing, noted);
  add(writing, " has no %ss, so it is not matched with the %ss of the other run: %s. ", what, what,
      may_be_same);
  add(writing, "If a file with %ss is kept, --search FOLDER may find them. ", what);
}

static void add_renamed(struct writing *writing, const struct noted *noted, const char *what) {
  if (!noted->count) return;
  add(writing, "The programs have two names (");
  add_modules(writing, noted);
  add(writing, "), and code without a %s there is not matched: if they are builds of one program, %s. ", what,
      may_be_same);
}

static void add_unsure(struct writing *writing, const struct noted *noted, const char *what) {
  if (!noted->count) return;
  add(writing, "There is no build-id in ");
  add_modules(writing, noted);
  add(writing,
      ", so it is not known whether both runs have the same build: code without a %s there is matched as if "
      "they had.",
      what);
}

/* Files of other heap profilers do not. */
static bool has_builds(const struct table *table) {
  return !*source_limits(table->report->samples->source)->note;
}

static bool is_of_one_recording(const struct comparison *comparison) {
  return comparison->before->report->names == comparison->after->report->names;
}

/* ---- shared ---- */

bool fate_find(const struct table *before, const struct table *after, const struct matching *matching,
               enum moved *gone, enum moved *new) {
  struct side had = {&before->tree, before->report->names, matching->after_of, NULL, 0},
              has = {&after->tree, after->report->names, matching->before_of, NULL, 0};
  struct strings *files = strings_create();
  bool ready = files && number_files(&had, before, files) && number_files(&has, after, files) &&
               find_fate(&had, &has, files->count, gone, new);
  free(had.file);
  free(has.file);
  strings_free(files);
  return ready;
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
  struct noted moved[MOVED_REASONS] = {{.count = 0}}, unsure = {.count = 0};
  struct writing writing = {note, 0};
  const char *what = comparison->after->tree.grouping == BY_LINE ? "line" : "name";
  *note = 0;
  if (is_of_one_recording(comparison)) return;
  fate_look(comparison, moved, &unsure);
  add_builds(&writing, &moved[MOVED_BUILD], what,
             has_builds(comparison->before) && has_builds(comparison->after));
  add_nameless(&writing, &moved[MOVED_NAMES], what);
  add_renamed(&writing, &moved[MOVED_PROGRAM], what);
  add_unsure(&writing, &unsure, what);
  if (writing.length && note[writing.length - 1] == ' ') note[writing.length - 1] = 0;
}
/* SPDX-License-Identifier: MIT */
