/* Resolves the nodes of a trace's stacks to frames, each node once. A node in a file is looked up
 * in its symbols (symbols/symbols.h) and gives one frame for the function, and one for each
 * function that was inlined there. A node in a language's program is named by the trace. Any other
 * node is named by its address. This file also writes the hint: which modules lack names, and how
 * to get them. The only error is a lack of memory. */
#include "analysis/load/names.h"
#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "symbols/debug_files.h"
#include "symbols/fetch.h"
#include "symbols/symbols.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INLINED_MOST = 64, PLACE_MOST = 512, HINTS_MOST = 64 };

/* ---- which debug files are fetched ---- */

static struct symbol_module names_module(const struct trace_module *module) {
  return (struct symbol_module){module->path.bytes, module->build_id, module->build_id_bytes, module->size};
}

/* Debug files are worth fetching of modules that have SHARE_LEAST of what reports show.
 *
 * SHARE: of a module the largest of three shares: of the bytes that were allocated, of those that
 * were left at the end, and of bytes times the time that they lived, which is what was held on
 * average. Each sampled block counts its size divided by its probability, and a mapping its size,
 * for each module that has a frame in its callstack. */
#define SHARE_LEAST 0.005
enum { WEIGHTS = 3 };

struct weight_of {
  double of[WEIGHTS];
};

static void names_fetch_add_row(const struct samples *samples, const struct row *row,
                                struct weight_of *nodes) {
  uint32_t count = source_stack_count(samples->source);
  if (!row->stack || row->stack > count || !(row->probability > 0)) return;
  uint64_t end_ns = row->end_ns < samples->end_ns ? row->end_ns : samples->end_ns;
  double bytes = (double)row->size / row->probability;
  struct weight_of *weight = &nodes[row->stack];
  if (row->call) weight->of[0] += bytes;
  if (row_is_left(row)) weight->of[1] += bytes;
  if (end_ns > row->begin_ns) weight->of[2] += bytes * (double)(end_ns - row->begin_ns);
}

static void add_weight(struct weight_of *sum, const struct weight_of *weight) {
  for (size_t i = 0; i < WEIGHTS; i++) sum->of[i] += weight->of[i];
}

/* Adds up by module; [0]: all. `last`: by module, the last stack that was added. */
static void names_fetch_add_stacks(const struct source *source, const struct weight_of *nodes,
                                   struct weight_of *modules, uint32_t *last) {
  uint32_t nodes_count = source_stack_count(source), modules_count = source_module_count(source);
  for (uint32_t stack = 1; stack <= nodes_count; stack++) {
    const struct weight_of *weight = &nodes[stack];
    if (weight->of[0] + weight->of[1] + weight->of[2] <= 0) continue;
    add_weight(&modules[0], weight);
    for (uint32_t node = stack, parent; node; node = parent) {
      struct trace_node found = source_stack(source, node);
      parent = found.parent < node ? found.parent : 0;
      if (!found.module || found.module > modules_count || last[found.module] == stack) continue;
      last[found.module] = stack;
      add_weight(&modules[found.module], weight);
    }
  }
}

static bool is_worth(const struct weight_of *module, const struct weight_of *all) {
  bool worth = false;
  for (size_t i = 0; i < WEIGHTS; i++)
    worth |= module->of[i] > 0 && module->of[i] >= SHARE_LEAST * all->of[i];
  return worth;
}

struct shown {
  names_progress *progress;
  void *context;
};

static void names_fetch_show(double done, void *context) {
  const struct shown *shown = context;
  shown->progress("Fetching debug files (Ctrl-C: go on without)", done, shown->context);
}

static char *fetch(const struct source *source, struct symbols *symbols, const struct weight_of *weights,
                   struct shown *shown) {
  uint32_t modules = source_module_count(source);
  struct symbol_module *wanted = calloc((size_t)modules + 1, sizeof *wanted);
  size_t count = 0;
  for (uint32_t number = 1; wanted && number <= modules; number++) {
    const struct trace_module *module = source_module(source, number);
    if (module->path.length && !trace_is_language(module) && is_worth(&weights[number], &weights[0]))
      wanted[count++] = names_module(module);
  }
  char *said = symbols_fetch(symbols, wanted, count, shown->progress ? names_fetch_show : NULL, shown);
  free(wanted);
  return said;
}

/* As symbols_fetch, of which it returns the text. */
static char *names_fetch(const struct samples *samples, struct symbols *symbols, names_progress *progress,
                         void *context) {
  struct shown shown = {progress, context};
  const struct source *source = samples->source;
  uint32_t modules = source_module_count(source);
  struct weight_of *nodes = calloc((size_t)source_stack_count(source) + 1, sizeof *nodes);
  struct weight_of *weights = calloc((size_t)modules + 1, sizeof *weights);
  uint32_t *last = calloc((size_t)modules + 1, sizeof *last);
  char *said = NULL;
  if (nodes && weights && last) {
    for (size_t i = 0; i < samples->row_count; i++) names_fetch_add_row(samples, &samples->rows[i], nodes);
    for (size_t i = 0; i < samples->mapped.count; i++)
      names_fetch_add_row(samples, &samples->mapped.rows[i], nodes);
    names_fetch_add_stacks(source, nodes, weights, last);
    said = fetch(source, symbols, weights, &shown);
  }
  free(nodes);
  free(weights);
  free(last);
  return said;
}

/* ---- the frames of a node ---- */

struct resolving {
  struct names *names;
  struct symbols *symbols; /* NULL: name code by its address */
  const struct samples *samples;
  size_t frame_count, frame_capacity;
  uint32_t *builds; /* index: module; [0]: of code outside any file */
};

static bool names_resolve_append(struct resolving *resolving, struct frame frame) {
  return ARRAY_ADD(resolving->names->frame, resolving->frame_count, resolving->frame_capacity, frame);
}

static uint32_t names_resolve_intern(struct resolving *resolving, const char *text) {
  return strings_intern(resolving->names->strings, text ? text : "");
}

/* Notes that a name is an address in a module, or with 0 in none. False: not enough memory. */
static bool mark_address(struct resolving *resolving, uint32_t name, uint32_t module) {
  return builds_mark(&resolving->names->builds, resolving->names->strings, name, resolving->builds[module]);
}

/* "libfoo+0x1234", or the address for code outside any file. */
static void names_resolve_write_address(char buffer[PLACE_MOST], const char *module, uint64_t offset) {
  size_t length = stem_length(module);
  snprintf(buffer, PLACE_MOST, "%.*s%s0x%llx", (int)(length < 400 ? length : 400), module, *module ? "+" : "",
           (unsigned long long)offset);
}

/* `number`: of the module; 0 for code outside any file. */
static bool append_address(struct resolving *resolving, uint32_t number, uint64_t offset) {
  const char *base = number ? path_name(source_module(resolving->samples->source, number)->path.bytes) : "";
  char text[PLACE_MOST];
  names_resolve_write_address(text, base, offset);
  uint32_t name = names_resolve_intern(resolving, text);
  return mark_address(resolving, name, number) &&
         names_resolve_append(resolving, (struct frame){.function = name,
                                                        .module = names_resolve_intern(resolving, base),
                                                        .place = name});
}

/* Appends the frame that stands for those beyond the depth of callstacks. */
static bool append_cut(struct resolving *resolving) {
  uint32_t name = names_resolve_intern(resolving, "(cut)");
  return names_resolve_append(
      resolving,
      (struct frame){.function = name, .module = names_resolve_intern(resolving, ""), .place = name});
}

/* The place of a frame whose line is not known: "function (libfoo+0x1234)". */
static uint32_t names_resolve_place_of(struct resolving *resolving, const struct symbol_frame *frame,
                                       const char *module, uint64_t offset) {
  char address[PLACE_MOST], text[2 * PLACE_MOST];
  names_resolve_write_address(address, module, offset);
  if (frame->nameless) return names_resolve_intern(resolving, address);
  snprintf(text, sizeof text, "%.500s (%s)", frame->function, address);
  return names_resolve_intern(resolving, text);
}

/* Appends the frames of a return address in a file: the function, and those inlined there. */
static bool append_symbols(struct resolving *resolving, uint32_t number, uint64_t offset) {
  const struct trace_module *module = source_module(resolving->samples->source, number);
  struct symbol_frame found[INLINED_MOST];
  struct symbol_module described = names_module(module);
  size_t count = symbols_resolve(resolving->symbols, &described, offset, found, INLINED_MOST);
  const char *base = path_name(module->path.bytes);
  uint32_t name = names_resolve_intern(resolving, base);
  for (size_t i = 0; i < count; i++) {
    struct frame frame = {.function = names_resolve_intern(resolving, found[i].function),
                          .linkage = names_resolve_intern(resolving, found[i].linkage),
                          .module = name,
                          .file = names_resolve_intern(resolving, found[i].file),
                          .home = names_resolve_intern(resolving, found[i].home),
                          .line = found[i].line > 0 ? (uint32_t)found[i].line : 0,
                          .bytes = found[i].bytes,
                          .inlined = found[i].inlined};
    if (found[i].nameless && !mark_address(resolving, frame.function, number)) return false;
    if (!frame.line) {
      frame.place = names_resolve_place_of(resolving, &found[i], base, offset);
      if (!mark_address(resolving, frame.place, number)) return false;
    }
    if (!names_resolve_append(resolving, frame)) return false;
  }
  return true;
}

/* Whether a file of another tool names code by its address. Nothing tells of which build that is,
 * so it is code of that process alone. */
static bool is_bare(const struct resolving *resolving, const char *function) {
  const char *number = strstr(function, "+0x") ? strstr(function, "+0x") + 1 : function;
  return *source_limits(resolving->samples->source)->note && !strncmp(number, "0x", 2) &&
         !number[2 + strspn(number + 2, "0123456789abcdefABCDEF")];
}

/* Appends the frame of a language's function, which the trace names. */
static bool append_place(struct resolving *resolving, uint32_t number, uint64_t offset,
                         const struct trace_place *place) {
  const char *module = number ? source_module(resolving->samples->source, number)->path.bytes : "[jit]";
  char address[PLACE_MOST];
  names_resolve_write_address(address, module, offset);
  struct frame frame = {
      .function = names_resolve_intern(resolving, place->function.length ? place->function.bytes : address),
      .module = names_resolve_intern(resolving, module),
      .file = names_resolve_intern(resolving, place->file.bytes),
      .line = place->line,
      .first_column = place->first_column,
      .last_column = place->last_column};
  if (!place->function.length && !mark_address(resolving, frame.function, number)) return false;
  if (is_bare(resolving, place->function.bytes) && !mark_address(resolving, frame.function, 0)) return false;
  if (!frame.line) frame.place = frame.function;
  return names_resolve_append(resolving, frame);
}

/* ---- how programs and threads begin ---- */

/* The innermost frame; NULL: there is none. */
static struct frame *names_resolve_frame_of(const struct resolving *resolving, uint32_t node) {
  return node && resolving->names->count[node] ? &resolving->names->frame[resolving->names->first[node]]
                                               : NULL;
}

static bool names_resolve_lacks_name(const struct resolving *resolving, const struct frame *frame) {
  return builds_of(&resolving->names->builds, frame->function);
}

static bool is_called(const struct resolving *resolving, const struct frame *frame, const char *name) {
  return text_begins(strings_text(resolving->names->strings, frame->function), name);
}

/* A frame whose name is its address gets a name. */
static bool give_name(struct resolving *resolving, struct frame *frame, uint32_t number, const char *name) {
  char place[PLACE_MOST + 32];
  snprintf(place, sizeof place, "%s (%s)", name, strings_text(resolving->names->strings, frame->place));
  frame->function = names_resolve_intern(resolving, name);
  frame->place = names_resolve_intern(resolving, place);
  return mark_address(resolving, frame->place, number);
}

static bool is_in(const struct resolving *resolving, const struct frame *frame, const char *library) {
  return text_begins(strings_text(resolving->names->strings, frame->module), library);
}

/* What glibc calls main and the functions of threads from has local names, which its file lacks on
 * most machines. Where it is on a stack tells it: __libc_start_call_main is called by
 * __libc_start_main, which is exported; start_thread by what no function calls, clone3. So it is with
 * the function that libstdc++ runs threads in. */
static bool name_beginning(struct resolving *resolving, uint32_t node, const struct trace_node *found) {
  uint32_t parent = found->parent < node ? found->parent : 0;
  struct trace_node outer =
      parent ? source_stack(resolving->samples->source, parent) : (struct trace_node){0};
  struct frame *frame = names_resolve_frame_of(resolving, node),
               *caller = names_resolve_frame_of(resolving, parent);
  const char *name = NULL;
  if (!frame || !caller || !names_resolve_lacks_name(resolving, frame)) return true;
  if (caller->module == frame->module && is_called(resolving, caller, "__libc_start_main"))
    name = "__libc_start_call_main";
  if (is_in(resolving, frame, "libstdc++.so.") && is_called(resolving, caller, "start_thread"))
    name = "execute_native_thread_routine";
  if (caller->module == frame->module && is_in(resolving, frame, "libc.so.") && !outer.parent) {
    if (names_resolve_lacks_name(resolving, caller) && !give_name(resolving, caller, outer.module, "clone3"))
      return false;
    if (is_called(resolving, caller, "clone")) name = "start_thread";
  }
  return !name || give_name(resolving, frame, found->module, name);
}

/* ---- nodes ---- */

static bool resolve_node(struct resolving *resolving, uint32_t node) {
  struct trace_node found = source_stack(resolving->samples->source, node);
  const struct trace_module *module =
      found.module ? source_module(resolving->samples->source, found.module) : NULL;
  bool in_file = module && module->path.length, language = module && trace_is_language(module);
  struct trace_place place;
  bool named = (language || !found.module) &&
               source_place(resolving->samples->source, found.module, found.offset, &place);
  resolving->names->first[node] = (uint32_t)resolving->frame_count;
  bool done = trace_is_cut(&found) ? append_cut(resolving)
              : named              ? append_place(resolving, found.module, found.offset, &place)
              : in_file && !language && resolving->symbols
                  ? append_symbols(resolving, found.module, found.offset)
                  : append_address(resolving, in_file ? found.module : 0, found.offset);
  resolving->names->count[node] = (uint32_t)(resolving->frame_count - resolving->names->first[node]);
  return done && (!resolving->symbols || name_beginning(resolving, node, &found));
}

/* Lists the builds of all files, also of those without samples. */
static bool list_builds(struct resolving *resolving) {
  const struct source *source = resolving->samples->source;
  uint32_t modules = source_module_count(source);
  char build[BUILD_MOST];
  resolving->builds = calloc((size_t)modules + 1, sizeof *resolving->builds);
  for (uint32_t number = 0; number <= modules && resolving->builds; number++) {
    const struct trace_module *module = number ? source_module(source, number) : NULL;
    build_write(build, module && module->path.length ? module : NULL, source_run(source));
    resolving->builds[number] = names_resolve_intern(resolving, build);
    if (!builds_add(&resolving->names->builds, resolving->builds[number])) return false;
  }
  return resolving->builds != NULL;
}

/* Adds a module to the hint if its symbols are in the wanted state; a file that is mapped twice is
 * added once. */
static void hint_module(struct resolving *resolving, const struct trace_module *module,
                        enum symbols_state wanted, uint32_t said[HINTS_MOST], size_t *count) {
  struct symbol_module described = names_module(module);
  if (!module->path.length || trace_is_language(module) ||
      symbols_state(resolving->symbols, &described, NULL) != wanted)
    return;
  uint32_t name = names_resolve_intern(resolving, path_name(module->path.bytes));
  for (size_t i = 0; i < *count; i++)
    if (said[i] == name) return;
  if (*count < HINTS_MOST) said[(*count)++] = name;
}

/* Writes "a, b and 3 more have no debugging information. " for the modules in one state. */
static void hint_state(struct resolving *resolving, enum symbols_state state, const char *one,
                       const char *many, FILE *out) {
  struct source *source = resolving->samples->source;
  uint32_t said[HINTS_MOST];
  size_t count = 0;
  for (uint32_t module = 1; module <= source_module_count(source); module++)
    hint_module(resolving, source_module(source, module), state, said, &count);
  size_t named = count > 4 ? 3 : count;
  for (size_t i = 0; i < named; i++)
    fprintf(out, "%s%s",
            !i               ? ""
            : i + 1 == count ? " and "
                             : ", ",
            strings_text(resolving->names->strings, said[i]));
  if (count > named) fprintf(out, " and %zu more", count - named);
  if (count) fprintf(out, " %s. ", count == 1 ? one : many);
}

/* Writes the hint: which modules lack names, and how to get more, in one paragraph. */
static void collect_hint(struct resolving *resolving) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) return;
  hint_state(resolving, SYMBOLS_TABLE_ONLY, "has no debugging information", "have no debugging information",
             out);
  hint_state(resolving, SYMBOLS_NONE, "has no symbols", "have no symbols", out);
  hint_state(resolving, SYMBOLS_MISSING, "is not on this machine", "are not on this machine", out);
  hint_state(resolving, SYMBOLS_MISMATCH, "is not the version that was recorded",
             "are not the versions that were recorded", out);
  if (ftell(out) > 0)
    fputs("More names: install -dbgsym packages, give the folder that has the files with --search, or set "
          "DEBUGINFOD_URLS.",
          out);
  if (fclose(out) || !*text)
    free(text);
  else
    resolving->names->hint = text;
}

/* Only part of a search folder was looked at. */
static void note_cut(struct names *names) {
  char *note;
  if (asprintf(&note,
               "%s%s--search: only the first %d files were looked at, %d folders deep; give a smaller folder",
               names->note ? names->note : "", names->note ? "\n" : "", DEBUG_FILES_MOST,
               DEBUG_FILES_DEPTH) < 0)
    return;
  free(names->note);
  names->note = note;
}

static bool resolve_all(struct resolving *resolving, names_progress *progress, void *context) {
  uint32_t nodes = source_stack_count(resolving->samples->source);
  struct names *names = resolving->names;
  names->first = calloc((size_t)nodes + 1, sizeof *names->first);
  names->count = calloc((size_t)nodes + 1, sizeof *names->count);
  if (!names->first || !names->count || !list_builds(resolving)) return false;
  for (uint32_t node = 1; node <= nodes; node++) {
    if (!resolve_node(resolving, node)) return false;
    if (progress && node % 256 == 0) progress("Looking up names", (double)node / nodes, context);
  }
  return true;
}

/* ---- shared ---- */

wn_status names_resolve(const struct samples *samples, const struct names_options *options,
                        names_progress *progress, void *context, struct names *names) {
  *names = (struct names){.strings = strings_create()};
  struct resolving resolving = {.names = names, .samples = samples};
  struct symbols_options lookup = {.search = options->search};
  if (options->symbols) resolving.symbols = options->lasting ? options->lasting : symbols_open(&lookup);
  names->served = resolving.symbols && options->debuginfod && fetch_has_servers();
  if (names->served) names->note = names_fetch(samples, resolving.symbols, progress, context);
  bool done = names->strings && resolve_all(&resolving, progress, context) &&
              names_add_processes(names, samples) && names_add_threads(names, samples) &&
              names_add_types(names, samples);
  if (done && resolving.symbols) collect_hint(&resolving);
  if (resolving.symbols && symbols_search_was_cut(resolving.symbols)) note_cut(names);
  if (resolving.symbols && resolving.symbols == options->lasting)
    symbols_close_files(resolving.symbols);
  else
    symbols_close(resolving.symbols);
  free(resolving.builds);
  if (done) return WN_OK;
  names_destroy(names);
  return error_set(WN_ENOMEM, "not enough memory for the names");
}
/* SPDX-License-Identifier: MIT */
