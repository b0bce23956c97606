/* A profile for the Firefox Profiler (https://profiler.firefox.com), in version 70 of its processed
 * format; later versions of the profiler upgrade it. The format is a set of tables by columns. A
 * table names the rows of another by their places.
 *
 * THREADS. Each quantity is a thread, whose place is that of enum quantity. Bytes are native
 * allocations, and blocks are samples with a weight, since the format counts only bytes in
 * allocations. All values are WHOLE (stacks.h).
 *
 * BALANCED. Allocations have addresses, made up here, by which the profiler finds their frees: its
 * view "retained" shows what is not freed. What a stack held is one block, which is not freed. In
 * the thread of what was allocated the rest is another one, which is freed. At a peak of several
 * moments the estimate of what a stack held can be larger than that of what it allocated. So what
 * was held has a thread of its own, in which nothing is freed, and the totals of both threads are
 * those of the report.
 *
 * TIMES have no meaning: stacks are one millisecond apart, in the order of the call tree, and the
 * frees are behind them.
 *
 * FUNCTIONS. Unless the user asks for a grouping, a frame is a line of a function, and the profiler
 * groups by function. Otherwise a frame is a group of the report. */
#include "export/formats.h"

#include "base/code_id.h"
#include "base/text.h"
#include "export/json.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <winnow/version.h>

enum { GECKO_VERSION = 36, PROCESSED_VERSION = 70, LIBRARY = 1, BREAKPAD_BYTES = 16 };

#define NOTHING INT64_MIN /* null in a column */

/* The tables that stacks refer to, by columns. */
struct tables {
  /* Sets of texts. The number of a string is its place in the table. A function (its name, module
   * and file), a resource (the name of a module) and a source (the path of a file) have the number
   * that follows their place, since the number 0 is the empty text. */
  struct strings *strings, *functions, *resources, *sources;
  int64_t *name, *resource, *source;                   /* by function */
  int64_t *frame_function, *frame_lib, *line, *column; /* by frame */
  int64_t *frame, *prefix_offset;                      /* by stack */
  int64_t *stack_of;                                   /* by node of the paths; NOTHING: no stack has it */
  size_t stack_count;
};

struct firefox {
  struct json json;
  const struct export *export;
  struct export_stacks stacks;
  struct tables tables;
};

/* ---- columns ---- */

static void write_signed(struct json *json, const char *name, int64_t value) {
  if (value == NOTHING)
    json_null(json, name);
  else if (value < 0)
    json_number(json, name, (double)value);
  else
    json_integer(json, name, (uint64_t)value);
}

static void firefox_write_column(struct json *json, const char *name, const int64_t *values, size_t count) {
  json_begin(json, name, '[');
  for (size_t i = 0; i < count; i++) write_signed(json, NULL, values[i]);
  json_end(json, ']');
}

static void write_same(struct json *json, const char *name, int64_t value, size_t count) {
  json_begin(json, name, '[');
  for (size_t i = 0; i < count; i++) write_signed(json, NULL, value);
  json_end(json, ']');
}

static void write_false(struct json *json, const char *name, size_t count) {
  json_begin(json, name, '[');
  for (size_t i = 0; i < count; i++) json_bool(json, NULL, false);
  json_end(json, ']');
}

/* ---- libraries ---- */

/* An id of code is none that other programs know. */
static int build_id_bytes(const struct trace_module *module) {
  return code_id_is(module->build_id, module->build_id_bytes) ? 0 : module->build_id_bytes;
}

/* Breakpad's name of a build: the build-id as a GUID, whose first three numbers are little-endian,
 * and the age 0. */
static void breakpad_id(const struct trace_module *module, char text[2 * BREAKPAD_BYTES + 2]) {
  static const uint8_t order[BREAKPAD_BYTES] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
  *text = 0;
  if (!build_id_bytes(module)) return;
  for (int i = 0; i < BREAKPAD_BYTES; i++)
    snprintf(text + 2 * i, 3, "%02X", order[i] < module->build_id_bytes ? module->build_id[order[i]] : 0);
  strcat(text, "0");
}

static void write_library(struct json *json, const struct trace_module *module) {
  char breakpad[2 * BREAKPAD_BYTES + 2], code[2 * TRACE_BUILD_ID_MAX + 1];
  breakpad_id(module, breakpad);
  for (int i = 0; i < build_id_bytes(module); i++) snprintf(code + 2 * i, 3, "%02x", module->build_id[i]);
  json_begin(json, NULL, '{');
  json_string(json, "arch", "");
  json_string(json, "name", path_name(module->path.bytes));
  json_string(json, "path", module->path.bytes);
  json_string(json, "debugName", path_name(module->path.bytes));
  json_string(json, "debugPath", module->path.bytes);
  json_string(json, "breakpadId", breakpad);
  if (build_id_bytes(module))
    json_string(json, "codeId", code);
  else
    json_null(json, "codeId");
  json_end(json, '}');
}

static void write_libraries(struct firefox *to) {
  struct source *source = to->export->report->samples->source;
  json_begin(&to->json, "libs", '[');
  for (uint32_t i = 1; i <= source_module_count(source); i++)
    if (!trace_is_language(source_module(source, i))) write_library(&to->json, source_module(source, i));
  json_end(&to->json, ']');
}

/* The place of the first library of that name; -1: there is none. */
static int64_t library_of(const struct firefox *to, const char *name) {
  struct source *source = to->export->report->samples->source;
  int64_t place = 0;
  for (uint32_t i = 1; *name && i <= source_module_count(source); i++) {
    if (trace_is_language(source_module(source, i))) continue;
    if (!strcmp(path_name(source_module(source, i)->path.bytes), name)) return place;
    place++;
  }
  return -1;
}

/* ---- functions and frames ---- */

static const char *firefox_text_of(const struct firefox *to, uint32_t string) {
  return strings_text(to->export->report->names->strings, string);
}

/* Cuts the address off the name of a place without a line, such as "parse (libfoo+0x1234)". */
static void cut_address(char *name, const char *module) {
  char *tail = strrchr(name, '(');
  if (!tail || tail < name + 2 || tail[-1] != ' ') return;
  if (text_begins_with_address(tail + 1, module)) tail[-1] = 0;
}

static void firefox_name_of(const struct firefox *to, uint32_t label, char name[STACK_LABEL_MOST]) {
  const struct label *of = &to->stacks.paths.labels[label];
  export_stacks_label(&to->stacks, label, name);
  if (to->export->grouped || !of->function) return;
  snprintf(name, STACK_LABEL_MOST, "%s", firefox_text_of(to, of->function));
  if (!of->line) cut_address(name, firefox_text_of(to, of->module));
}

/* The place of a text in a table whose places are one less than the numbers of its set. */
static int64_t firefox_place_in(struct strings *set, const char *text, int64_t nothing) {
  return *text ? (int64_t)strings_intern(set, text) - 1 : nothing;
}

/* The place of a function. False without memory. */
static bool add_function(struct firefox *to, const char *name, const char *module, const char *file,
                         int64_t *place) {
  struct tables *tables = &to->tables;
  size_t size = strlen(name) + strlen(module) + strlen(file) + 3;
  char *key = malloc(size);
  if (!key) return false;
  snprintf(key, size, "%s\n%s\n%s", name, module, file);
  *place = firefox_place_in(tables->functions, key, -1);
  free(key);
  if (*place < 0) return false;
  tables->name[*place] = (int64_t)strings_intern(tables->strings, name);
  tables->resource[*place] = firefox_place_in(tables->resources, module, -1);
  tables->source[*place] = firefox_place_in(tables->sources, file, NOTHING);
  /* 0 and -1 mean that a set has no memory, unless the text is empty. */
  return (tables->name[*place] || !*name) && (tables->resource[*place] >= 0 || !*module) &&
         (tables->source[*place] >= 0 || !*file);
}

static bool add_frames(struct firefox *to) {
  struct tables *tables = &to->tables;
  char name[STACK_LABEL_MOST];
  for (size_t i = 0; i < to->stacks.frame_count; i++) {
    const struct label *label = &to->stacks.paths.labels[to->stacks.frames[i]];
    const char *module = firefox_text_of(to, label->module), *file = firefox_text_of(to, label->file);
    firefox_name_of(to, to->stacks.frames[i], name);
    if (!add_function(to, name, module, file, &tables->frame_function[i])) return false;
    tables->frame_lib[i] = library_of(to, module);
    tables->line[i] = label->line ? label->line : NOTHING;
    tables->column[i] = label->first_column ? label->first_column : NOTHING;
  }
  return true;
}

/* Sources and resources are named by strings too. */
static bool add_names(struct tables *tables) {
  for (uint32_t i = 1; i < tables->sources->count; i++)
    if (!strings_intern(tables->strings, strings_text(tables->sources, i))) return false;
  for (uint32_t i = 1; i < tables->resources->count; i++)
    if (!strings_intern(tables->strings, strings_text(tables->resources, i))) return false;
  return true;
}

/* Relies on the order of nodes: callers stand before what they call. */
static void firefox_add_stacks(struct firefox *to) {
  struct tables *tables = &to->tables;
  const struct path_node *nodes = to->stacks.paths.nodes;
  size_t count = to->stacks.paths.node_count;
  for (size_t i = 0; i < count; i++) tables->stack_of[i] = NOTHING;
  for (size_t i = count; i-- > 0;) {
    if (stack_values_any(&to->stacks.values[i])) tables->stack_of[i] = 0;
    if (tables->stack_of[i] == 0 && nodes[i].parent) tables->stack_of[nodes[i].parent] = 0;
  }
  for (size_t i = 0; i < count; i++) {
    uint32_t node = to->stacks.order[i], parent = nodes[node].parent;
    int64_t place = (int64_t)tables->stack_count;
    if (tables->stack_of[node] == NOTHING) continue;
    tables->stack_of[node] = place;
    tables->frame[place] = to->stacks.frame_of[nodes[node].label];
    tables->prefix_offset[place] = parent ? place - tables->stack_of[parent] : 0;
    tables->stack_count++;
  }
}

static bool make_tables(struct firefox *to) {
  struct tables *tables = &to->tables;
  size_t frames = to->stacks.frame_count + 1, nodes = to->stacks.paths.node_count;
  struct strings **sets[] = {&tables->strings, &tables->functions, &tables->resources, &tables->sources};
  int64_t **by_frame[] = {&tables->name,      &tables->resource, &tables->source, &tables->frame_function,
                          &tables->frame_lib, &tables->line,     &tables->column};
  int64_t **by_node[] = {&tables->frame, &tables->prefix_offset, &tables->stack_of};
  bool done = true;
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) done &= (*sets[i] = strings_create()) != NULL;
  for (size_t i = 0; i < sizeof by_frame / sizeof *by_frame; i++)
    done &= (*by_frame[i] = calloc(frames, sizeof **by_frame[i])) != NULL;
  for (size_t i = 0; i < sizeof by_node / sizeof *by_node; i++)
    done &= (*by_node[i] = calloc(nodes, sizeof **by_node[i])) != NULL;
  done = done && add_frames(to) && add_names(tables);
  if (done) firefox_add_stacks(to);
  return done;
}

static void free_tables(struct tables *tables) {
  struct strings *sets[] = {tables->strings, tables->functions, tables->resources, tables->sources};
  int64_t *columns[] = {tables->name,          tables->resource, tables->source, tables->frame_function,
                        tables->frame_lib,     tables->line,     tables->column, tables->frame,
                        tables->prefix_offset, tables->stack_of};
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
    if (sets[i]) strings_free(sets[i]);
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) free(columns[i]);
}

/* ---- what the threads share ---- */

static void begin_table(struct json *json, const char *name, size_t length) {
  json_begin(json, name, '{');
  json_integer(json, "length", length);
}

static void firefox_write_stacks(struct json *json, const struct tables *tables) {
  begin_table(json, "stackTable", tables->stack_count);
  firefox_write_column(json, "frame", tables->frame, tables->stack_count);
  firefox_write_column(json, "prefixOffset", tables->prefix_offset, tables->stack_count);
  json_end(json, '}');
}

static void firefox_write_frames(struct json *json, const struct tables *tables, size_t count) {
  begin_table(json, "frameTable", count);
  write_same(json, "address", -1, count);
  firefox_write_column(json, "lib", tables->frame_lib, count);
  write_same(json, "inlineDepth", 0, count);
  write_same(json, "category", 0, count);
  write_same(json, "subcategory", 0, count);
  firefox_write_column(json, "func", tables->frame_function, count);
  write_same(json, "nativeSymbol", NOTHING, count);
  write_same(json, "innerWindowID", 0, count);
  firefox_write_column(json, "line", tables->line, count);
  firefox_write_column(json, "column", tables->column, count);
  write_same(json, "originalLocation", NOTHING, count);
  json_end(json, '}');
}

static void firefox_write_functions(struct json *json, const struct tables *tables) {
  size_t count = tables->functions->count - 1;
  begin_table(json, "funcTable", count);
  firefox_write_column(json, "name", tables->name, count);
  write_false(json, "isJS", count);
  write_false(json, "relevantForJS", count);
  firefox_write_column(json, "resource", tables->resource, count);
  firefox_write_column(json, "source", tables->source, count);
  write_same(json, "lineNumber", NOTHING, count);
  write_same(json, "columnNumber", NOTHING, count);
  write_same(json, "originalLocation", NOTHING, count);
  json_end(json, '}');
}

/* The column of a table that names each text of a set. */
static void firefox_write_names(struct json *json, const char *column, const struct tables *tables,
                                const struct strings *set) {
  json_begin(json, column, '[');
  for (uint32_t i = 1; i < set->count; i++)
    json_integer(json, NULL, strings_intern(tables->strings, strings_text(set, i)));
  json_end(json, ']');
}

static void write_resources(struct json *json, const struct tables *tables) {
  size_t count = tables->resources->count - 1;
  begin_table(json, "resourceTable", count);
  firefox_write_names(json, "name", tables, tables->resources);
  write_same(json, "host", NOTHING, count);
  write_same(json, "type", LIBRARY, count);
  json_end(json, '}');
}

static void write_sources(struct json *json, const struct tables *tables) {
  size_t count = tables->sources->count - 1;
  begin_table(json, "sources", count);
  write_same(json, "id", NOTHING, count);
  firefox_write_names(json, "filename", tables, tables->sources);
  write_same(json, "startLine", 1, count);
  write_same(json, "startColumn", 1, count);
  write_same(json, "sourceMapURL", NOTHING, count);
  write_same(json, "content", NOTHING, count);
  json_end(json, '}');
}

/* Writes a table without rows. */
static void write_empty(struct json *json, const char *name, const char *const *columns) {
  begin_table(json, name, 0);
  for (; *columns; columns++) write_same(json, *columns, 0, 0);
  json_end(json, '}');
}

static void write_shared(struct firefox *to) {
  static const char *const symbols[] = {"libIndex", "address", "name", "functionSize", NULL};
  static const char *const locations[] = {"source", "line", "column", NULL};
  struct json *json = &to->json;
  json_begin(json, "shared", '{');
  firefox_write_stacks(json, &to->tables);
  firefox_write_frames(json, &to->tables, to->stacks.frame_count);
  firefox_write_functions(json, &to->tables);
  write_resources(json, &to->tables);
  write_sources(json, &to->tables);
  write_empty(json, "nativeSymbols", symbols);
  write_empty(json, "sourceLocationTable", locations);
  json_begin(json, "stringArray", '[');
  for (uint32_t i = 0; i < to->tables.strings->count; i++)
    json_string(json, NULL, strings_text(to->tables.strings, i));
  json_end(json, ']');
  json_end(json, '}');
}

/* ---- threads ---- */

/* What a thread has of a stack. */
struct entry {
  int64_t stack, time, weight, address;
};

/* Adds what a stack has of a quantity: what is never freed, and then what is (BALANCED). */
static size_t add_entries(const struct firefox *to, enum quantity quantity, uint32_t node,
                          struct entry *entries) {
  const uint64_t *value = to->stacks.values[node].value;
  int64_t stack = to->tables.stack_of[node], all = (int64_t)value[quantity], kept = all;
  size_t count = 0;
  if (quantity == QUANTITY_ALLOCATED_BYTES && value[QUANTITY_HELD_BYTES] < value[quantity])
    kept = (int64_t)value[QUANTITY_HELD_BYTES];
  if (kept) entries[count++] = (struct entry){.stack = stack, .time = stack, .weight = kept};
  if (all > kept) entries[count++] = (struct entry){stack, stack, all - kept, 1};
  return count;
}

/* The entries of a quantity, with addresses from 1 on, and the frees last. NULL without memory. */
static struct entry *make_entries(const struct firefox *to, enum quantity quantity, size_t *count) {
  size_t nodes = to->stacks.paths.node_count, allocations = 0;
  struct entry *entries = calloc(3 * nodes, sizeof *entries);
  if (!entries) return NULL;
  for (size_t i = 0; i < nodes; i++)
    allocations += add_entries(to, quantity, to->stacks.order[i], entries + allocations);
  *count = allocations;
  for (size_t i = 0; i < allocations; i++) {
    bool freed = entries[i].address;
    entries[i].address = (int64_t)i + 1;
    if (freed)
      entries[(*count)++] = (struct entry){entries[i].stack, (int64_t)to->tables.stack_count,
                                           -entries[i].weight, entries[i].address};
  }
  return entries;
}

/* Writes the column of the entries that has the member at an offset. */
static void write_entries(struct json *json, const char *name, const struct entry *entries, size_t count,
                          size_t member) {
  json_begin(json, name, '[');
  for (size_t i = 0; i < count; i++)
    write_signed(json, NULL, *(const int64_t *)((const char *)&entries[i] + member));
  json_end(json, ']');
}

static void write_samples(struct json *json, const char *name, const char *type, const struct entry *entries,
                          size_t count) {
  begin_table(json, name, count);
  write_entries(json, "time", entries, count, offsetof(struct entry, time));
  write_entries(json, "stack", entries, count, offsetof(struct entry, stack));
  write_entries(json, "weight", entries, count, offsetof(struct entry, weight));
  json_string(json, "weightType", type);
}

static void write_values(struct json *json, enum quantity quantity, const struct entry *entries,
                         size_t count) {
  bool bytes = quantity_kinds[quantity].bytes;
  write_samples(json, "samples", "samples", entries, bytes ? 0 : count);
  json_end(json, '}');
  if (!bytes || !count) return; /* the profiler takes the times of an empty table for NaN */
  write_samples(json, "nativeAllocations", "bytes", entries, count);
  write_entries(json, "memoryAddress", entries, count, offsetof(struct entry, address));
  write_same(json, "threadId", quantity, count);
  json_end(json, '}');
}

static bool write_thread(struct firefox *to, enum quantity quantity) {
  static const char *const markers[] = {"data", "name", "startTime", "endTime", "phase", "category", NULL};
  struct json *json = &to->json;
  char pid[24], command[EXPORT_COMMAND_MOST];
  size_t count;
  struct entry *entries = make_entries(to, quantity, &count);
  if (!entries) return false;
  snprintf(pid, sizeof pid, "%" PRIu64, (uint64_t)source_run(to->export->report->samples->source)->pid);
  export_command(to->export->report, command);
  json_begin(json, NULL, '{');
  json_string(json, "processType", "default");
  json_string(json, "processName", command);
  json_integer(json, "processStartupTime", 0);
  json_null(json, "processShutdownTime");
  json_integer(json, "registerTime", 0);
  json_null(json, "unregisterTime");
  write_same(json, "pausedRanges", 0, 0);
  json_string(json, "name", quantity_kinds[quantity].title);
  json_bool(json, "isMainThread", false);
  json_string(json, "pid", pid);
  json_integer(json, "tid", quantity);
  write_values(json, quantity, entries, count);
  write_empty(json, "markers", markers);
  json_end(json, '}');
  free(entries);
  return true;
}

/* ---- the run ---- */

static void firefox_write_note(struct json *json, const char *label, const char *text) {
  json_begin(json, NULL, '{');
  json_string(json, "label", label);
  json_string(json, "format", "string");
  json_string(json, "value", text);
  json_end(json, '}');
}

static void write_total(const struct firefox *to, struct json *json, const char *label,
                        const struct estimate *total) {
  char text[EXPORT_TOTAL_MOST];
  export_total(to->export->report, total, text);
  firefox_write_note(json, label, text);
}

/* How the numbers are to be read. */
static void firefox_write_notes(const struct firefox *to, struct json *json) {
  const struct report *report = to->export->report;
  struct estimate allocated = report_bytes(report, &report->allocated),
                  allocated_blocks = report_blocks(report, &report->allocated),
                  held = report_bytes(report, &report->asked.live),
                  held_blocks = report_blocks(report, &report->asked.live);
  char text[128];
  snprintf(text, sizeof text, "%.64s (%.3f s after the start)", to->export->at,
           (double)report->asked.time_ns / 1e9);
  json_begin(json, "extra", '[');
  json_begin(json, NULL, '{');
  json_string(json, "label", "Winnow");
  json_begin(json, "entries", '[');
  firefox_write_note(json, "Numbers",
                     export_is_exact(report)
                         ? "exact, from a trace of every block; times have no meaning"
                         : "estimates from a sample, not to be scaled; times have no meaning");
  firefox_write_note(json, "Held at", text);
  if (to->export->where) firefox_write_note(json, "Only blocks where", to->export->where);
  write_total(to, json, "Held bytes", &held);
  write_total(to, json, "Held blocks", &held_blocks);
  write_total(to, json, "Allocated bytes", &allocated);
  write_total(to, json, "Allocated blocks", &allocated_blocks);
  json_end(json, ']');
  json_end(json, '}');
  json_end(json, ']');
}

static void write_category(struct json *json) {
  json_begin(json, "categories", '[');
  json_begin(json, NULL, '{');
  json_string(json, "name", "Other");
  json_string(json, "color", "grey");
  json_begin(json, "subcategories", '[');
  json_string(json, NULL, "Other");
  json_end(json, ']');
  json_end(json, '}');
  json_end(json, ']');
}

static void firefox_write_run(struct firefox *to) {
  struct json *json = &to->json;
  const int64_t all[QUANTITIES] = {0, 1, 2, 3}, selected = to->export->quantity;
  char command[EXPORT_COMMAND_MOST], writer[64];
  export_command(to->export->report, command);
  snprintf(writer, sizeof writer, "Winnow %.40s", wn_version_text());
  json_begin(json, "meta", '{');
  json_integer(json, "version", GECKO_VERSION);
  json_integer(json, "preprocessedProfileVersion", PROCESSED_VERSION);
  json_integer(json, "interval", 1);
  json_number(json, "startTime", (double)source_run(to->export->report->samples->source)->wall_ns / 1e6);
  json_integer(json, "profilingStartTime", 0);
  json_integer(json, "profilingEndTime", to->tables.stack_count + 1);
  json_integer(json, "processType", 0);
  json_string(json, "product", command);
  json_string(json, "importedFrom", writer);
  json_string(json, "arguments", command);
  json_integer(json, "stackwalk", 1);
  json_bool(json, "symbolicated", true);
  json_bool(json, "symbolicationNotSupported", true);
  json_bool(json, "usesOnlyOneStackType", true);
  json_bool(json, "sourceCodeIsNotOnSearchfox", true);
  json_bool(json, "keepProfileThreadOrder", true);
  firefox_write_column(json, "initialVisibleThreads", all, QUANTITIES);
  firefox_write_column(json, "initialSelectedThreads", &selected, 1);
  write_category(json);
  write_same(json, "markerSchema", 0, 0);
  firefox_write_notes(to, json);
  json_end(json, '}');
}

static bool firefox_write_all(struct firefox *to) {
  struct json *json = &to->json;
  bool done = true;
  json_begin(json, NULL, '{');
  firefox_write_run(to);
  write_libraries(to);
  write_shared(to);
  json_begin(json, "threads", '[');
  for (int i = 0; i < QUANTITIES && done; i++) done = write_thread(to, (enum quantity)i);
  json_end(json, ']');
  json_end(json, '}');
  return done;
}

/* ---- shared ---- */

wn_status export_firefox(FILE *out, const struct export *export) {
  struct firefox to = {.json = {.out = out, .compact = true}, .export = export};
  wn_status error =
      export_stacks_create(export->report, export->grouped ? export->grouping : BY_LINE, &to.stacks);
  if (error) return error;
  if (!make_tables(&to) || !firefox_write_all(&to)) error = stacks_no_memory();
  free_tables(&to.tables);
  export_stacks_destroy(&to.stacks);
  return error;
}
/* SPDX-License-Identifier: MIT */
