/* Finds the lines of functions, and the code that has no names. */
#include "cli/report/report_place.h"

#include "analysis/load/interpreter.h"
#include "analysis/load/namesakes.h"
#include "base/error.h"
#include "base/text.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Code without a name is called "libfoo+0x12". */
static bool report_place_has_no_name(const struct view *view, const struct label *label) {
  const char *module = strings_text(view->report->names->strings, label->module),
             *function = strings_text(view->report->names->strings, label->function);
  return text_begins_with_address(function, module);
}

static bool is_file(const struct view *view, uint32_t module) {
  const char *name = strings_text(view->report->names->strings, module);
  return *name && *name != '[';
}

static bool report_place_is_of_language(const struct view *view, const struct label *label) {
  return interpreter_is_language(view->report->names, label->module);
}

/* Bytes of code without names, and of code with names and without lines; by module. */
struct module_lacks {
  double names, lines;
};

/* Adds a group's bytes, to `lacking` too, and sets which modules have the most. */
static void add_lacking(const struct view *view, const struct call_tree *lines, const struct group *group,
                        struct module_lacks *modules, struct lacking *lacking) {
  const struct label *label = &lines->labels[group->label];
  double bytes = group->self.bytes.total;
  if (report_place_has_no_name(view, label)) {
    lacking->names += bytes;
    modules[label->module].names += bytes;
    if (modules[label->module].names > modules[lacking->nameless].names) lacking->nameless = label->module;
  } else if (!label->line && is_file(view, label->module)) {
    lacking->lines += bytes;
    modules[label->module].lines += bytes;
    if (modules[label->module].lines > modules[lacking->lineless].lines) lacking->lineless = label->module;
  }
}

/* ---- shared ---- */

void place_write(const struct view *view, const struct call_tree *lines, const struct group *line,
                 size_t count, char *buffer, size_t size) {
  const struct label *label = &lines->labels[line->label];
  const struct strings *strings = view->report->names->strings;
  struct namesake_parts parts;
  const char *file = strings_text(strings, label->file);
  bool several = namesake_split(strings_text(strings, label->function), file, &parts);
  int length = snprintf(buffer, size, "%.*s:%u", several ? parts.home_length : INT_MAX,
                        several ? parts.home : path_name(file), label->line);
  if (count > 1 && length > 0 && (size_t)length < size)
    snprintf(buffer + length, size - (size_t)length, " +%zu line%s", count - 1, count > 2 ? "s" : "");
}

void place_of_language(const struct view *view, const struct label *label, char *buffer, size_t size) {
  const struct strings *strings = view->report->names->strings;
  struct namesake_parts parts;
  const char *file = strings_text(strings, label->source);
  *buffer = 0;
  if (!report_place_is_of_language(view, label) || !*file) return;
  bool several = namesake_split(strings_text(strings, label->function), file, &parts);
  snprintf(buffer, size, "%.*s", several ? parts.home_length : INT_MAX,
           several ? parts.home : path_name(file));
}

void place_cut_name(char *name, const char *place) {
  size_t length = strlen(name), file = 0;
  while (place[file] && !(place[file] == ':' && place[file + 1] >= '0' && place[file + 1] <= '9')) file++;
  if (length < file + 4 || name[length - 1] != ')') return;
  char *at = name + length - file - 3;
  if (text_begins(at, " (") && !strncmp(at + 2, place, file)) *at = 0;
}

/* The program's own file is the one that is no library. It may have another name than the command, as behind
 * a link. */
const char *report_module_worth_naming(const struct view *view, const struct label *label) {
  const struct strings *strings = view->report->names->strings;
  const char *module = strings_text(strings, label->module),
             *function = strings_text(strings, label->function);
  if (report_place_is_of_language(view, label)) return "";
  bool own = view->report->samples->process_count < 2 && *module != '[' && !strstr(module, ".so");
  return own || !strcmp(function, module) || text_begins_with_address(function, module) ? "" : module;
}

wn_status place_of_function(const struct view *view, enum measure measure, const struct label *label,
                            char *buffer, size_t size) {
  struct table table;
  *buffer = 0;
  wn_status error = report_table(view->report, measure, BY_FUNCTION, TABLE_LINES, &table);
  if (error) return error;
  size_t count;
  const struct group *group = table_find_group(&table, label),
                     *line = group ? main_line(&table.lines, group, &count) : NULL;
  if (line) place_write(view, &table.lines.tree, line, 1, buffer, size);
  table_destroy(&table);
  return WN_OK;
}

wn_status place_lacking(const struct view *view, enum measure measure, struct lacking *lacking) {
  struct table table;
  *lacking = (struct lacking){.names = 0};
  wn_status error = report_table(view->report, measure, BY_WHOLE_LINE, TABLE_SUMS, &table);
  if (error) return error;
  struct module_lacks *modules = calloc(view->report->names->strings->count, sizeof *modules);
  for (size_t i = 0; modules && i < table.tree.group_count; i++)
    add_lacking(view, &table.tree, &table.tree.groups[i], modules, lacking);
  double whole = table.tree.nodes[0].total.bytes.total;
  if (whole > 0) lacking->names /= whole, lacking->lines /= whole;
  table_destroy(&table);
  free(modules);
  return modules ? WN_OK : error_set(WN_ENOMEM, "not enough memory for the report");
}
/* SPDX-License-Identifier: MIT */
