/* Makes the rows of a recording's windows, and the names that they stand for. */
#include "export/clickhouse.h"

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "export/shown.h"
#include "sources/modules.h"
#include <stdlib.h>
#include <string.h>
#include <winnow/version.h>

enum { NAME_MOST = 2000, FRAMES_MOST = 2048, SECONDS_OF_DAY = 86400 };

struct clickhouse {
  const struct report *report;
  struct source *source;
  enum clickhouse_encoding encoding;
  struct clickhouse_told *told;
  char service[NAME_MOST], release[NAME_MOST];
  uint64_t run, wall_ns; /* wall_ns: at time 0 of the trace */
  struct shown_stacks stacks;
  struct owners owners; /* by function: a stack's site is that of the path that owns it */
  struct windows windows;
  struct shown_frames *shown; /* room for one stack */
  uint64_t *frames;           /* the same: its frames' numbers */
  uint64_t *stack_of;         /* index: owner; the number of the stack, 0: not known yet */
  uint64_t *site_of;          /* index: label of the paths; the same of the site */
  FILE *const *streams;       /* of the call */
  bool goes_on, ends;         /* ends: `held` of the window that is written is LEFT */
  uint16_t day;               /* of the window that is written */
};

static wn_status clickhouse_no_memory(void) { return error_set(WN_ENOMEM, "not enough memory for the rows"); }

/* ---- numbers ---- */

static uint64_t clickhouse_hash_text(uint64_t hash, const char *text) {
  return hash_combine(hash, hash_bytes(text, strlen(text)));
}

/* 0 stands for "not known yet". */
static uint64_t clickhouse_number_of(uint64_t hash) { return hash ? hash : 1; }

static uint64_t clickhouse_run_of(const struct trace_run *run) {
  uint64_t hash = hash_combine(run->wall_ns, run->monotonic_ns);
  hash = hash_combine(hash_combine(hash, run->seed), run->pid);
  return clickhouse_number_of(hash_combine(hash, hash_bytes(run->host.bytes, run->host.length)));
}

/* Whether a number is told for the first time. Without memory it is told again. */
static bool clickhouse_is_new(struct clickhouse_told *told, uint64_t number) {
  struct index_walk walk = {.hash = number};
  for (uint32_t item; (item = index_next(&told->by_number, &walk));)
    if (told->items[item - 1] == number) return false;
  if (ARRAY_ADD(told->items, told->count, told->capacity, number) &&
      !index_add(&told->by_number, number, (uint32_t)told->count))
    told->count--;
  return true;
}

/* ---- names ---- */

static const char *clickhouse_text_of(const struct clickhouse *rows, uint32_t string) {
  return strings_text(rows->report->names->strings, string);
}

/* What is at a frame of a node. A file with a build-id and an offset in it are the same on every
 * machine; without them the names are what is known. */
static struct clickhouse_frames_row frame_row(const struct clickhouse *rows, uint32_t node, size_t which,
                                              char build_id[2 * TRACE_BUILD_ID_MAX + 1]) {
  struct trace_node at = source_stack(rows->source, node);
  const struct trace_module *module = at.module ? source_module(rows->source, at.module) : NULL;
  struct frames frames = names_of(rows->report->names, node);
  const struct frame *frame = &frames.frame[which];
  struct clickhouse_frames_row row = {.seen = rows->day,
                                      .build = build_id,
                                      .function = clickhouse_text_of(rows, frame->function),
                                      .file = clickhouse_text_of(rows, frame->file),
                                      .line = frame->line};
  *build_id = 0;
  if (module && !trace_is_language(module)) {
    module_build_id(module, build_id);
    row.address = at.offset - 1; /* within the call */
  }
  uint64_t hash = *build_id ? hash_combine(clickhouse_hash_text(row.address, build_id), which)
                            : clickhouse_hash_text(clickhouse_hash_text(row.line, row.function), row.file);
  row.frame = clickhouse_number_of(hash);
  return row;
}

static uint64_t clickhouse_put_frame(const struct clickhouse *rows, uint32_t node, size_t which) {
  char build_id[2 * TRACE_BUILD_ID_MAX + 1];
  struct clickhouse_frames_row row = frame_row(rows, node, which, build_id);
  if (clickhouse_is_new(rows->told, row.frame))
    clickhouse_put_frames(rows->streams[CLICKHOUSE_FRAMES], rows->encoding, &row);
  return row.frame;
}

/* Numbers and writes the stack that a node owns, with its frames. */
static uint64_t clickhouse_put_stack(struct clickhouse *rows, uint32_t node) {
  size_t shown = shown_stack(rows->report, &rows->stacks, node, rows->shown, FRAMES_MOST), count = 0;
  uint64_t hash = 0;
  for (size_t i = 0; i < shown; i++) {
    size_t frames = names_of(rows->report->names, rows->shown[i].node).count;
    for (size_t which = 0; which < frames && which < SHOWN_MOST && count < FRAMES_MOST; which++) {
      if (!(rows->shown[i].shown >> which & 1)) continue;
      rows->frames[count++] = clickhouse_put_frame(rows, rows->shown[i].node, which);
      hash = hash_combine(hash, rows->frames[count - 1]);
    }
  }
  struct clickhouse_stacks_row row = {clickhouse_number_of(hash), rows->day, {rows->frames, count}};
  if (clickhouse_is_new(rows->told, row.stack))
    clickhouse_put_stacks(rows->streams[CLICKHOUSE_STACKS], rows->encoding, &row);
  return row.stack;
}

/* The name of a row of the report, and of its file without its version, such as libc. */
static uint64_t put_site(struct clickhouse *rows, uint32_t label) {
  const struct call_paths *paths = rows->owners.paths;
  char name[NAME_MOST], module[NAME_MOST];
  label_text(paths->labels, label, BY_FUNCTION, rows->report->names, name, sizeof name);
  snprintf(module, sizeof module, "%s", label ? clickhouse_text_of(rows, paths->labels[label].module) : "");
  module[stem_length(module)] = 0;
  struct clickhouse_sites_row row = {
      clickhouse_number_of(clickhouse_hash_text(clickhouse_hash_text(0, name), module)), rows->day, name,
      module};
  if (clickhouse_is_new(rows->told, row.site))
    clickhouse_put_sites(rows->streams[CLICKHOUSE_SITES], rows->encoding, &row);
  return row.site;
}

/* ---- rows ---- */

static uint32_t clickhouse_label_of(const struct clickhouse *rows, uint32_t stack) {
  const struct call_paths *paths = rows->owners.paths;
  return stack <= paths->stack_count ? paths->nodes[paths->own_of[stack]].label : 0;
}

static void put_sums(const struct clickhouse *rows, struct clickhouse_samples_row *row,
                     const struct sums *sums) {
  const struct sum *bytes = &sums->bytes, *blocks = &sums->blocks;
#define SET_SUM(what)                               \
  row->what = what->total;                          \
  row->what##_variance = what->variance;            \
  row->what##_seen = what->seen;                    \
  row->what##_clustered = what->clustered;          \
  row->what##_excess = what->typical - what->total; \
  row->what##_earlier = what->earlier;
  SET_SUM(bytes)
  SET_SUM(blocks)
#undef SET_SUM
  row->n = (uint32_t)bytes->samples;
  clickhouse_put_samples(rows->streams[CLICKHOUSE_SAMPLES], rows->encoding, row);
}

/* Whether what is held in a window is what an ended process had not freed. */
static bool clickhouse_is_left(const struct clickhouse *rows, uint64_t window) {
  return !rows->goes_on && window >= clickhouse_last(rows);
}

static void clickhouse_put_row(struct clickhouse *rows, const struct window_sum *sum,
                               struct clickhouse_samples_row *row) {
  uint32_t label = clickhouse_label_of(rows, sum->stack);
  uint64_t *stack = &rows->stack_of[sum->stack], *site = &rows->site_of[label];
  if (!*stack) *stack = clickhouse_put_stack(rows, sum->stack);
  if (!*site) *site = put_site(rows, label);
  row->kind = sum->kind == WINDOW_HELD && rows->ends ? WINDOW_LEFT : sum->kind;
  row->stack = *stack;
  row->site = *site;
  put_sums(rows, row, &sum->sums);
}

/* The time of the trace at which a window begins. */
static uint64_t clickhouse_begin_of(const struct clickhouse *rows, uint64_t window) {
  uint64_t begin_ns = window * WINDOW_NS;
  return begin_ns > rows->wall_ns ? begin_ns - rows->wall_ns : 0;
}

/* Seconds from one time to another at which the recording was not asleep. */
static double awake_seconds(const struct samples *samples, uint64_t begin_ns, uint64_t end_ns) {
  uint64_t awake_ns = end_ns > begin_ns ? end_ns - begin_ns : 0;
  for (size_t i = 0; i < samples->asleep_count; i++) {
    const struct span *asleep = &samples->asleep[i];
    uint64_t from = asleep->begin_ns > begin_ns ? asleep->begin_ns : begin_ns,
             until = asleep->end_ns < end_ns ? asleep->end_ns : end_ns;
    if (until > from) awake_ns -= until - from;
  }
  return (double)awake_ns / 1e9;
}

static void put_load(const struct clickhouse *rows, uint64_t window,
                     const struct clickhouse_samples_row *row) {
  uint64_t begin_ns = clickhouse_begin_of(rows, window), end_ns = clickhouse_begin_of(rows, window + 1);
  const struct samples *samples = rows->report->samples;
  bool slept = samples->asleep_count && samples->asleep->begin_ns < end_ns; /* PARTIAL */
  if (clickhouse_is_left(rows, window) && end_ns > samples->end_ns) end_ns = samples->end_ns;
  struct clickhouse_loads_row load = {.day = row->day,
                                      .time = row->time,
                                      .service = row->service,
                                      .release = row->release,
                                      .host = row->host,
                                      .run = row->run,
                                      .batch = row->batch,
                                      .rows = rows->windows.count,
                                      .seconds = awake_seconds(samples, begin_ns, end_ns),
                                      .rate = rows->report->recording->rate,
                                      .partial = slept || rows->report->recording->without_ranges,
                                      .version = wn_version_text()};
  clickhouse_put_loads(rows->streams[CLICKHOUSE_LOADS], rows->encoding, &load);
}

/* ---- making ---- */

static void set_labels(struct clickhouse *rows, const struct clickhouse_labels *labels) {
  const struct trace_text *command = &source_run(rows->source)->command;
  const char *program = command->length ? command_name(command->bytes) : "unknown";
  snprintf(rows->service, sizeof rows->service, "%s", labels->service ? labels->service : program);
  if (labels->release)
    snprintf(rows->release, sizeof rows->release, "%s", labels->release);
  else
    release_of_program(rows->source, rows->release);
}

static wn_status clickhouse_make(struct clickhouse *rows) {
  size_t nodes = (size_t)source_stack_count(rows->source) + 1;
  if (!shown_stacks_create(rows->report, &rows->stacks)) return clickhouse_no_memory();
  rows->shown = malloc(FRAMES_MOST * sizeof *rows->shown);
  rows->frames = malloc(FRAMES_MOST * sizeof *rows->frames);
  rows->stack_of = calloc(nodes, sizeof *rows->stack_of);
  wn_status error = report_owners(rows->report, BY_FUNCTION, &rows->owners);
  if (error) return error;
  rows->site_of = calloc(rows->owners.paths->label_count + 1, sizeof *rows->site_of);
  if (!rows->shown || !rows->frames || !rows->stack_of || !rows->site_of) return clickhouse_no_memory();
  return windows_create(&rows->windows, rows->report, rows->stacks.owner_of, nodes);
}

/* ---- shared ---- */

void clickhouse_forget(struct clickhouse_told *told) {
  free(told->items);
  free(told->by_number.slots);
  *told = (struct clickhouse_told){.count = 0};
}

wn_status clickhouse_create(const struct report *report, const struct clickhouse_labels *labels,
                            enum clickhouse_encoding encoding, struct clickhouse_told *told,
                            struct clickhouse **clickhouse) {
  const struct trace_run *run = source_run(report->samples->source);
  if (!run->wall_ns)
    return error_set(WN_EINVAL, "the trace does not tell when its process began: it has no windows");
  struct clickhouse *rows = *clickhouse = calloc(1, sizeof *rows);
  if (!rows) return clickhouse_no_memory();
  rows->report = report;
  rows->source = report->samples->source;
  rows->encoding = encoding;
  rows->told = told;
  rows->run = clickhouse_run_of(run);
  rows->wall_ns = run->wall_ns;
  rows->goes_on = !report->samples->ended;
  set_labels(rows, labels);
  wn_status error = clickhouse_make(rows);
  if (!error) return WN_OK;
  clickhouse_destroy(rows);
  *clickhouse = NULL;
  return error;
}

void clickhouse_destroy(struct clickhouse *rows) {
  shown_stacks_destroy(&rows->stacks);
  owners_destroy(&rows->owners);
  windows_destroy(&rows->windows);
  free(rows->shown);
  free(rows->frames);
  free(rows->stack_of);
  free(rows->site_of);
  free(rows);
}

void clickhouse_go_on(struct clickhouse *rows, bool goes_on) { rows->goes_on = goes_on; }

uint64_t clickhouse_window_of(const struct clickhouse *rows, uint64_t time_ns) {
  return (rows->wall_ns + time_ns) / WINDOW_NS;
}

uint64_t clickhouse_first(const struct clickhouse *rows) { return clickhouse_window_of(rows, 0); }

uint64_t clickhouse_last(const struct clickhouse *rows) {
  return clickhouse_window_of(rows, rows->report->samples->end_ns);
}

uint64_t clickhouse_run(const struct clickhouse *rows) { return rows->run; }

uint64_t clickhouse_batch(const struct clickhouse *rows, uint64_t window) {
  return clickhouse_number_of(hash_combine(rows->run, window));
}

wn_status clickhouse_window(struct clickhouse *rows, uint64_t window, FILE *const streams[CLICKHOUSE_TABLES],
                            size_t *count) {
  const struct trace_text *host = &source_run(rows->source)->host;
  windows_skip(&rows->windows, clickhouse_begin_of(rows, window));
  wn_status error = windows_sum(&rows->windows, clickhouse_begin_of(rows, window + 1));
  if (error) return error;
  struct clickhouse_samples_row row = {.day = (uint16_t)(window * WINDOW_SECONDS / SECONDS_OF_DAY),
                                       .time = (uint32_t)(window * WINDOW_SECONDS),
                                       .service = rows->service,
                                       .release = rows->release,
                                       .host = host->length ? host->bytes : "",
                                       .run = rows->run,
                                       .batch = clickhouse_batch(rows, window),
                                       .unit = rows->report->recording->byte_unit};
  rows->streams = streams;
  rows->day = row.day;
  rows->ends = clickhouse_is_left(rows, window);
  for (size_t i = 0; i < rows->windows.count; i++) clickhouse_put_row(rows, &rows->windows.sums[i], &row);
  put_load(rows, window, &row);
  *count = rows->windows.count;
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
