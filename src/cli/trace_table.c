/* A table that tells several traces apart.
 *
 * The largest trace is that of the program that allocated the most bytes, by the same estimate as
 * in `winnow report`. The number of samples would not do: a program with a few large blocks has few
 * samples.
 *
 * The estimate needs all records of a trace, so a caller with little time sets limits. Traces are
 * read in the order of their file sizes, smallest first, until a limit is reached. The remaining
 * traces have larger files than all that were read, so they come first in the table, with the size
 * of the file instead of an estimate. Traces that cannot be read come last.
 *
 * One trace at a time is in memory, besides copies of pipes (input.h).
 */
#include "cli/trace_table.h"

#include "analysis/load/timeline.h"
#include "cli/input.h"
#include "cli/text.h"
#include "sources/files/joined.h"
#include "sources/files/open.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* In the order of the table. */
enum state { UNREAD, READ, UNREADABLE };

struct entry {
  struct input input;
  size_t place; /* the position among the arguments */
  enum state state;
  uint64_t file_bytes;
  char *program; /* with its arguments; NULL: unknown */
  char *trouble; /* why it cannot be read */
  bool growing;  /* a process still writes it */
  bool partial;  /* records are missing */
  bool is_empty; /* has no byte */
  bool is_copy;  /* maybe a shorter one, of another entry, which alone counts in sums */
  struct joined_identity identity;
  struct sum bytes;
  double unit; /* of estimate_of */
  uint64_t samples;
};

struct overview {
  struct entry *entries;
  size_t count, shown;
  int path_columns;
};

enum {
  WIDTH_BYTES = 11,
  WIDTH_RANGE = 14,
  WIDTH_SAMPLES = 9,
  WIDTH_NUMBERS = WIDTH_BYTES + WIDTH_RANGE + WIDTH_SAMPLES + 2,
  WIDTH_PATH_MOST = 48,
  PROGRAM_LEAST = 24,
  OWN_LINE_INDENT = 4
};

/* ---- one trace ---- */

static char *trace_table_describe(const struct trace_run *run) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  bool known = out && process_name_write(out, run, true);
  if (out) fclose(out);
  if (known) return text;
  free(text);
  return NULL;
}

static void tell_run(struct entry *entry, const struct trace_run *run) {
  entry->program = trace_table_describe(run);
  entry->identity = joined_identity_of(run);
}

static void fail_entry(struct entry *entry) {
  entry->state = UNREADABLE;
  if (entry->is_empty &&
      asprintf(&entry->trouble, "%s is empty: no records yet, or none at all", entry->input.name) > 0)
    return;
  char text[512];
  entry->trouble = strdup(input_error(&entry->input, text));
}

/* Reads only which program the trace is of. */
static void trace_table_look_at(struct entry *entry) {
  struct source *source;
  if (source_open(input_path(&entry->input), &source)) {
    fail_entry(entry);
    return;
  }
  tell_run(entry, source_run(source));
  source_close(source);
}

static void trace_table_read_whole(struct entry *entry, struct progress *progress) {
  struct samples *samples;
  if (samples_load(input_path(&entry->input), progress_show, progress, &samples)) {
    fail_entry(entry);
    return;
  }
  const struct trace_run *run = source_run(samples->source);
  entry->state = READ;
  tell_run(entry, run);
  entry->bytes = timeline_allocated(samples, NULL, NULL).bytes;
  entry->unit = run->rate > 0 && run->rate < 1 ? run->word_bytes / run->rate : 0;
  entry->samples = samples->sampled_blocks;
  if (source_limits(samples->source)->totals) { /* which are no samples */
    entry->bytes.seen = entry->bytes.total;
    entry->bytes.variance = 0;
    entry->samples = 0;
  }
  const struct trace_damage *damage = source_damage(samples->source);
  entry->partial = trace_is_partial(damage);
  samples_free(samples);
}

/* ---- all of them ---- */

static int trace_table_by_size(const void *one, const void *other) {
  const struct entry *a = one, *b = other;
  return (a->file_bytes > b->file_bytes) - (a->file_bytes < b->file_bytes);
}

static int by_rank(const void *one, const void *other) {
  const struct entry *a = one, *b = other;
  if (a->state != b->state) return (a->state > b->state) - (a->state < b->state);
  double more =
      a->state == UNREAD ? (double)b->file_bytes - (double)a->file_bytes : b->bytes.total - a->bytes.total;
  if (more != 0) return more > 0 ? 1 : -1;
  return (a->place > b->place) - (a->place < b->place);
}

/* Copies are next to each other, the longest first. */
static int trace_table_by_identity(const void *one, const void *other) {
  const struct entry *a = one, *b = other;
  int order = memcmp(&a->identity, &b->identity, sizeof a->identity);
  if (order) return order;
  if (a->file_bytes != b->file_bytes) return a->file_bytes > b->file_bytes ? -1 : 1;
  return (a->place > b->place) - (a->place < b->place);
}

static void mark_copies(struct overview *overview) {
  struct entry *entries = overview->entries;
  qsort(entries, overview->count, sizeof *entries, trace_table_by_identity);
  for (size_t i = 1; i < overview->count; i++)
    entries[i].is_copy = entries[i].identity.wall_ns &&
                         !memcmp(&entries[i - 1].identity, &entries[i].identity, sizeof entries[i].identity);
}

static void trace_table_examine(struct entry *entry) {
  struct stat found;
  const char *path = input_path(&entry->input);
  if (stat(path, &found)) return;
  entry->file_bytes = (uint64_t)found.st_size;
  entry->is_empty = S_ISREG(found.st_mode) && !found.st_size;
  entry->growing = input_is_growing(path);
}

static void trace_table_collect(struct overview *overview, const char *const *paths,
                                const struct trace_table_limits *limits) {
  uint64_t taken = 0;
  struct progress progress;
  for (size_t i = 0; i < overview->count; i++) {
    struct entry *entry = &overview->entries[i];
    entry->place = i;
    if (!input_open(&entry->input, paths[i]))
      fail_entry(entry);
    else
      trace_table_examine(entry);
  }
  qsort(overview->entries, overview->count, sizeof *overview->entries, trace_table_by_size);
  progress_begin(&progress, "Reading");
  for (size_t i = 0; i < overview->count; i++) {
    struct entry *entry = &overview->entries[i];
    if (entry->state == UNREADABLE) continue;
    taken += entry->file_bytes;
    if (entry->file_bytes > limits->file_bytes || taken > limits->all_bytes)
      trace_table_look_at(entry);
    else
      trace_table_read_whole(entry, &progress);
    input_close(&entry->input);
  }
  progress_end(&progress);
  mark_copies(overview);
  qsort(overview->entries, overview->count, sizeof *overview->entries, by_rank);
}

/* Chooses the traces that get a line. The first trace given takes the last line if it would have
 * none. */
static void trace_table_choose(struct overview *overview, size_t lines) {
  overview->shown = overview->count > lines ? lines : overview->count;
  size_t first = 0;
  while (overview->entries[first].place) first++;
  if (first < overview->shown) return;
  struct entry entry = overview->entries[first];
  size_t last = overview->shown - 1;
  memmove(&overview->entries[last + 1], &overview->entries[last], (first - last) * sizeof entry);
  overview->entries[last] = entry;
}

/* ---- the table ---- */

/* The numbers of a line. The caller frees them. NULL without memory. */
static char *numbers_of(const struct sum *bytes, double unit, uint64_t samples) {
  char text[40], value[32], range[32], count[32], *numbers = NULL;
  size_t size;
  struct estimate estimate = estimate_of(bytes, unit);
  bool some = estimate.samples || estimate.high <= 0;
  snprintf(text, sizeof text, "%s%s", some ? "" : "< ",
           text_bytes(value, some ? estimate.estimate : estimate.high));
  FILE *out = open_memstream(&numbers, &size);
  if (!out) return NULL;
  text_pad(out, text, -WIDTH_BYTES);
  fputc(' ', out);
  text_pad(out, some ? text_short_range(range, &estimate) : "", WIDTH_RANGE - 1);
  text_pad(out, samples || !estimate.samples ? text_count(count, (double)samples) : "", -WIDTH_SAMPLES);
  fclose(out);
  return numbers;
}

/* Whether a text fits on the line behind the numbers; otherwise it has lines of its own. */
static bool fits(const char *numbers, const char *text) {
  return (int)text_columns(numbers) + 2 + (int)text_columns(text) <= text_width();
}

static void trace_table_print_row(FILE *out, const char *numbers, const char *text) {
  if (fits(numbers, text)) {
    fprintf(out, "%s  ", numbers);
    text_name(out, text);
    fputc('\n', out);
  } else {
    if (*numbers) fprintf(out, "%s\n", numbers);
    text_paragraph(out, text, OWN_LINE_INDENT);
  }
}

/* Writes the program, cut to the columns but never below PROGRAM_LEAST. */
static void write_program(FILE *out, const char *program, int columns) {
  const char *text = program ? program : "?";
  size_t most = columns < PROGRAM_LEAST ? PROGRAM_LEAST : (size_t)columns;
  bool whole = text_columns(text) <= most;
  text_plain(out, text, text_that_fits(text, strlen(text), whole ? most : most - 1));
  if (!whole) fputs("…", out);
}

static void trace_table_write_notes(char notes[128], const struct entry *entry) {
  char size[32], unread[64] = "";
  if (entry->state == UNREAD)
    snprintf(unread, sizeof unread, " (%s of trace)", text_bytes(size, (double)entry->file_bytes));
  snprintf(notes, 128, "%s%s%s%s", unread, entry->partial ? " (records are missing)" : "",
           entry->growing ? " (still being written)" : "", entry->is_copy ? " (a copy)" : "");
}

/* The text of a line: the path, padded to `path_columns`, then the program and notes, in `columns`
 * in all; or what is wrong with the trace. The caller frees it. NULL without memory. */
static char *text_of_entry(const struct entry *entry, int path_columns, int columns) {
  char notes[128], *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) return NULL;
  trace_table_write_notes(notes, entry);
  if (entry->state == UNREADABLE) {
    text_name(out, entry->trouble ? entry->trouble : "it cannot be read");
  } else {
    text_pad(out, entry->input.name, path_columns);
    fputs("  ", out);
    int path = (int)text_columns(entry->input.name);
    path = path > path_columns ? path : path_columns;
    write_program(out, entry->program, columns - path - 2 - (int)text_columns(notes));
  }
  fputs(notes, out);
  fclose(out);
  return text;
}

static void print_entry(FILE *out, const struct overview *overview, const struct entry *entry) {
  char *numbers = NULL;
  if (entry->state == READ)
    numbers = numbers_of(&entry->bytes, entry->unit, entry->samples);
  else if (asprintf(&numbers, "%*s", WIDTH_NUMBERS - 2, entry->state == UNREAD ? "not counted" : "") < 0)
    numbers = NULL;
  if (!numbers) return;
  char *text = text_of_entry(entry, overview->path_columns, text_width() - (int)text_columns(numbers) - 2);
  if (text && !fits(numbers, text)) {
    free(text);
    text = text_of_entry(entry, 0, text_width() - OWN_LINE_INDENT);
    if (entry->state == UNREADABLE) *numbers = 0; /* the numbers are only blanks */
  }
  if (text) trace_table_print_row(out, numbers, text);
  free(text);
  free(numbers);
}

/* Prints the sum of the entries from `from` on, without copies. */
static void print_sum(FILE *out, const struct overview *overview, size_t from, const char *before,
                      const char *behind) {
  struct sum bytes = {0};
  double unit = 0;
  uint64_t samples = 0;
  size_t states[3] = {0}, copies = 0;
  for (size_t i = from; i < overview->count; i++) {
    const struct entry *entry = &overview->entries[i];
    if (entry->is_copy) {
      copies++;
      continue;
    }
    sum_merge(&bytes, &entry->bytes);
    samples += entry->samples;
    if (entry->unit > unit) unit = entry->unit;
    states[entry->state]++;
  }
  char text[208], copied[48] = "", unread[48] = "", unreadable[48] = "";
  if (copies) snprintf(copied, sizeof copied, ", %zu %s", copies, copies == 1 ? "is a copy" : "are copies");
  if (states[UNREAD]) snprintf(unread, sizeof unread, ", %zu not counted", states[UNREAD]);
  if (states[UNREADABLE]) snprintf(unreadable, sizeof unreadable, ", %zu cannot be read", states[UNREADABLE]);
  snprintf(text, sizeof text, "%s%zu%s%s%s%s", before, overview->count - from, behind, copied, unread,
           unreadable);
  char *numbers = numbers_of(&bytes, unit, samples);
  if (numbers) trace_table_print_row(out, numbers, text);
  free(numbers);
}

static void trace_table_print_table(FILE *out, struct overview *overview) {
  for (size_t i = 0; i < overview->shown; i++) {
    int columns = (int)text_columns(overview->entries[i].input.name);
    if (columns > overview->path_columns) overview->path_columns = columns;
  }
  if (overview->path_columns > WIDTH_PATH_MOST) overview->path_columns = WIDTH_PATH_MOST;
  char numbers[WIDTH_NUMBERS + 8], behind[WIDTH_PATH_MOST + 16];
  snprintf(behind, sizeof behind, "%-*s  program", overview->path_columns, "trace");
  snprintf(numbers, sizeof numbers, "%*s %-*s%*s", WIDTH_BYTES, "allocated", WIDTH_RANGE - 1, "95 % range",
           WIDTH_SAMPLES, "samples");
  trace_table_print_row(out, numbers, fits(numbers, behind) ? behind : "trace  program");
  for (size_t i = 0; i < overview->shown; i++) print_entry(out, overview, &overview->entries[i]);
  if (overview->shown < overview->count) print_sum(out, overview, overview->shown, "… and ", " more");
  if (overview->count > 1) print_sum(out, overview, 0, "all ", "");
}

/* ---- shared ---- */

size_t trace_table_print(FILE *out, const char *const *paths, size_t count,
                         const struct trace_table_limits *limits) {
  struct overview overview = {.entries = calloc(count, sizeof *overview.entries), .count = count};
  size_t unreadable = 0;
  if (!overview.entries || !count) return count;
  trace_table_collect(&overview, paths, limits);
  trace_table_choose(&overview, limits->lines);
  trace_table_print_table(out, &overview);
  for (size_t i = 0; i < count; i++) {
    unreadable += overview.entries[i].state == UNREADABLE;
    free(overview.entries[i].program);
    free(overview.entries[i].trouble);
  }
  free(overview.entries);
  return unreadable;
}
/* SPDX-License-Identifier: MIT */
