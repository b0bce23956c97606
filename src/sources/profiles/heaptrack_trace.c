/* Files of heaptrack, the heap profiler of KDE, as a source: the text that heaptrack_interpret
 * makes, compressed by gzip or Zstandard or not, of the versions 1 to 3.
 *
 * Such a file is a sequence of events, with every allocation: lines of numbers in hexadecimal
 * digits. It defines texts, code addresses with their functions, stacks, and kinds of allocation,
 * each a size and a stack. An allocation and a deallocation name a kind, not a block. So what is
 * held is exact at any moment and for each stack, and which of equal blocks was freed is not known:
 * the source takes the oldest, and says that it does not tell lives. (In traces with every block of
 * sqlite3, gcc and perl, of 41,000 frees of one of several equal blocks that lived, the oldest was
 * freed in 93 %, the latest in 2 %: winnow record --rate 1, then the events of winnow dump, by
 * stack and size.) A realloc is a deallocation and an allocation.
 *
 * The clock has ticks of about ten milliseconds. Events between two ticks keep their order by a
 * nanosecond each.
 *
 * Reads heaptrack's text in two passes. The first one reads all that lines define, and checks all
 * lines; the second one gives the events. Between them only the definitions are in memory, and
 * while events are given the blocks that live. */
#include "sources/profiles/profiles.h"

#include "base/array.h"
#include "base/error.h"
#include "sources/profiles/inflated.h"
#include "sources/profiles/profile_source.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines ---- */

/* The lines of heaptrack's text: a letter, then numbers in hexadecimal digits with blanks between
 * them, or a text. */

enum { HEAPTRACK_LINE_MOST = 1 << 16 };

struct heaptrack_lines {
  struct inflated *file;
  unsigned version; /* of the format: since 3 a text has its length before it */
  uint64_t number;  /* of the line at hand, from 1 on */
  char kind;
  const char *at;    /* within the line: the next number, or the text */
  size_t length;     /* of the text */
  const char *fault; /* what is wrong with the line; NULL: nothing */
  char line[HEAPTRACK_LINE_MOST + 1];
};

static bool heaptrack_lines_fail(struct heaptrack_lines *lines, const char *fault) {
  if (!lines->fault) lines->fault = fault;
  return false;
}

static int heaptrack_lines_digit(int c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads the rest of a line. What is longer than the longest is a fault, or left out if it tells
 * nothing. */
static bool read_rest(struct heaptrack_lines *lines, bool tells) {
  size_t count = 0;
  int c;
  while ((c = inflated_byte(lines->file)) >= 0 && c != '\n')
    if (count < HEAPTRACK_LINE_MOST)
      lines->line[count++] = (char)c;
    else if (tells)
      return heaptrack_lines_fail(lines, "is too long");
  lines->line[count] = 0;
  lines->at = lines->line + (count && *lines->line == ' ');
  lines->length = count - (size_t)(lines->at - lines->line);
  return c >= 0 || heaptrack_lines_fail(lines, "is cut");
}

/* A text with its length before it may have any bytes. */
static bool read_sized_text(struct heaptrack_lines *lines) {
  uint64_t length = 0;
  int c = inflated_byte(lines->file);
  if (c == ' ') c = inflated_byte(lines->file);
  for (; heaptrack_lines_digit(c) >= 0 && length <= HEAPTRACK_LINE_MOST; c = inflated_byte(lines->file))
    length = 16 * length + (uint64_t)heaptrack_lines_digit(c);
  if (length > HEAPTRACK_LINE_MOST) return heaptrack_lines_fail(lines, "is too long");
  if (c != ' ' && (c != '\n' || length))
    return heaptrack_lines_fail(lines, c < 0 ? "is cut" : "has no length of its text");
  lines->at = lines->line;
  lines->length = (size_t)length;
  if (inflated_read(lines->file, lines->line, length) < length) return heaptrack_lines_fail(lines, "is cut");
  lines->line[length] = 0;
  return c == '\n' || inflated_byte(lines->file) == '\n' ||
         heaptrack_lines_fail(lines, "has a text of another length");
}

/* Reads the next line; of kinds that tell nothing here only the letter. False at the end, or on a
 * fault. */
static bool heaptrack_next(struct heaptrack_lines *lines) {
  int c = inflated_byte(lines->file);
  if (c < 0 || lines->fault) return false;
  lines->number++;
  lines->kind = (char)c;
  lines->length = 0;
  *lines->line = 0;
  lines->at = lines->line;
  if (c == '\n') return lines->kind = '#', true;
  if (c == 's' && lines->version >= 3) return read_sized_text(lines);
  return read_rest(lines, strchr("sita+-cv", c) != NULL);
}

/* The next number of the line. False: there is none. A wrong one is a fault. */
static bool heaptrack_number(struct heaptrack_lines *lines, uint64_t *number) {
  const char *begin = lines->at;
  *number = 0;
  for (; heaptrack_lines_digit(*lines->at) >= 0; lines->at++) {
    if (lines->at - begin >= 16) return heaptrack_lines_fail(lines, "has a number above 2^64");
    *number = *number << 4 | (uint64_t)heaptrack_lines_digit(*lines->at);
  }
  bool any = lines->at > begin;
  if (*lines->at && *lines->at != ' ') return heaptrack_lines_fail(lines, "has a number with other signs");
  while (*lines->at == ' ') lines->at++;
  return any;
}

/* So many numbers, which the line must have: else a fault. */
static bool heaptrack_numbers(struct heaptrack_lines *lines, uint64_t *numbers, int count) {
  for (int i = 0; i < count; i++)
    if (!heaptrack_number(lines, &numbers[i])) return heaptrack_lines_fail(lines, "has too few numbers");
  return true;
}

/* ---- what they define ---- */

enum { VERSION_MOST = 3, LIST_MOST = 1 << 28, INLINED_MOST = 1024 };

static const uint64_t tick_ns = 10000000, clock_most_ms = UINT64_MAX / 4000000;

/* A code address: its frames among `frames`, innermost first. */
struct code {
  uint32_t first, count;
};
struct place {
  uint32_t module;
  uint64_t offset;
};

/* A size and a stack, and the oldest and latest of its blocks that live: places in `living`; 0:
 * none. */
struct kind {
  uint64_t size;
  uint32_t node, oldest, latest;
};
struct living {
  uint64_t block;
  uint32_t after; /* the block of this kind after it; or the next unused place */
};

/* A list that grows. */
#define LIST(type)          \
  struct {                  \
    type *items;            \
    size_t count, capacity; \
  }

struct heaptrack {
  struct profile profile;
  struct heaptrack_lines lines;
  LIST(uint32_t) texts; /* [0] is none, as that of codes and traces */
  LIST(struct code) codes;
  LIST(struct place) frames;
  LIST(uint32_t) traces; /* their nodes */
  LIST(struct kind) kinds;
  LIST(struct living) living; /* [0] is unused */
  uint32_t unused;            /* the first unused place of `living`; 0: none */
  uint64_t blocks, time_ns;
  bool has_version, no_memory;
};

static void close_lists(struct profile *profile) {
  struct heaptrack *trace = (struct heaptrack *)profile;
  if (trace->lines.file) inflated_close(trace->lines.file);
  free(trace->texts.items);
  free(trace->codes.items);
  free(trace->frames.items);
  free(trace->traces.items);
  free(trace->kinds.items);
  free(trace->living.items);
}

/* ---- lists ---- */

#define APPEND(trace, list, item)                                                           \
  ((list).count < LIST_MOST && ARRAY_ADD((list).items, (list).count, (list).capacity, item) \
       ? true                                                                               \
       : (trace->no_memory = true, false))

static bool heaptrack_trace_fail(struct heaptrack *trace, const char *fault) {
  if (!trace->lines.fault) trace->lines.fault = fault;
  return false;
}

static bool needs_memory(struct heaptrack *trace, bool done) {
  if (!done) trace->no_memory = true;
  return done;
}

/* ---- definitions ---- */

static bool define_text(struct heaptrack *trace) {
  uint32_t number;
  return needs_memory(trace,
                      named_text(&trace->profile.stacks, trace->lines.at, trace->lines.length, &number)) &&
         APPEND(trace, trace->texts, number);
}

/* A text by its number in the file. */
static bool heaptrack_trace_text_of(struct heaptrack *trace, uint64_t number, uint32_t *text) {
  *text = 0;
  if (number >= trace->texts.count) return heaptrack_trace_fail(trace, "names a text that does not exist");
  *text = trace->texts.items[number];
  return true;
}

static bool heaptrack_trace_add_frame(struct heaptrack *trace, struct code *code, uint32_t module,
                                      const struct named_place *place) {
  uint32_t number;
  if (!needs_memory(trace, named_place(&trace->profile.stacks, place, &number))) return false;
  if (code->count++ == INLINED_MOST) return heaptrack_trace_fail(trace, "has too many frames");
  return APPEND(trace, trace->frames, ((struct place){module, number}));
}

/* Names a frame without a function by its file of code and the address where it was loaded. */
static bool add_bare_frame(struct heaptrack *trace, struct code *code, uint32_t module, uint64_t address) {
  struct named_place place = {0};
  char text[32];
  snprintf(text, sizeof text, "0x%" PRIx64, address);
  return needs_memory(trace, named_text(&trace->profile.stacks, text, strlen(text), &place.function)) &&
         heaptrack_trace_add_frame(trace, code, module, &place);
}

/* "i ADDRESS MODULE [FUNCTION [FILE LINE [FUNCTION FILE LINE]...]]", innermost function first. */
static bool define_code(struct heaptrack *trace) {
  struct heaptrack_lines *lines = &trace->lines;
  struct code code = {.first = (uint32_t)trace->frames.count};
  uint64_t head[2], numbers[3];
  uint32_t path, module;
  if (!heaptrack_numbers(lines, head, 2) || !heaptrack_trace_text_of(trace, head[1], &path) ||
      !needs_memory(trace, named_module(&trace->profile.stacks, path, &module)))
    return false;
  while (heaptrack_number(lines, &numbers[0])) {
    struct named_place place = {0};
    if (!heaptrack_trace_text_of(trace, numbers[0], &place.function)) return false;
    if (heaptrack_number(lines, &numbers[1])) {
      if (!heaptrack_numbers(lines, &numbers[2], 1) ||
          !heaptrack_trace_text_of(trace, numbers[1], &place.file))
        return false;
      place.line = numbers[2] < UINT32_MAX ? (uint32_t)numbers[2] : 0;
    }
    if (place.function && !heaptrack_trace_add_frame(trace, &code, module, &place)) return false;
  }
  if (!lines->fault && !code.count && !add_bare_frame(trace, &code, module, head[0])) return false;
  return !lines->fault && APPEND(trace, trace->codes, code);
}

/* "t CODE CALLER": the caller is a trace; 0: there is none. */
static bool define_trace(struct heaptrack *trace) {
  uint64_t numbers[2];
  if (!heaptrack_numbers(&trace->lines, numbers, 2)) return false;
  if (!numbers[0] || numbers[0] >= trace->codes.count)
    return heaptrack_trace_fail(trace, "names code that does not exist");
  if (numbers[1] >= trace->traces.count)
    return heaptrack_trace_fail(trace, "names a caller that does not exist");
  struct code code = trace->codes.items[numbers[0]];
  uint32_t node = trace->traces.items[numbers[1]];
  for (uint32_t i = code.count; i-- > 0;) {
    const struct place *place = &trace->frames.items[code.first + i];
    struct trace_node next = {node, place->module, place->offset};
    if (!needs_memory(trace, named_node(&trace->profile.stacks, &next, &node))) return false;
  }
  return APPEND(trace, trace->traces, node);
}

/* "a SIZE TRACE" */
static bool define_kind(struct heaptrack *trace) {
  uint64_t numbers[2];
  if (!heaptrack_numbers(&trace->lines, numbers, 2)) return false;
  if (numbers[1] >= trace->traces.count)
    return heaptrack_trace_fail(trace, "names a stack that does not exist");
  if (numbers[0] >> 53) return heaptrack_trace_fail(trace, "has a size above 2^53");
  struct kind kind = {.size = numbers[0], .node = trace->traces.items[numbers[1]]};
  return APPEND(trace, trace->kinds, kind);
}

static bool define_version(struct heaptrack *trace) {
  uint64_t numbers[2];
  if (trace->has_version || !heaptrack_numbers(&trace->lines, numbers, 2))
    return heaptrack_trace_fail(trace, "has no version");
  if (!numbers[1] || numbers[1] > VERSION_MOST)
    return heaptrack_trace_fail(trace, "has a version that is not known");
  trace->lines.version = (unsigned)numbers[1];
  return trace->has_version = true;
}

static bool define_command(struct heaptrack *trace) {
  profile_set_command(&trace->profile, trace->lines.at, trace->lines.length);
  return true;
}

/* ---- events ---- */

static bool read_kind(struct heaptrack *trace, uint64_t *number) {
  if (!heaptrack_numbers(&trace->lines, number, 1)) return false;
  return *number < trace->kinds.count ||
         heaptrack_trace_fail(trace, "names a kind of allocation that does not exist");
}

/* Checks a line, and takes what it defines. */
static bool check_line(struct heaptrack *trace) {
  uint64_t number;
  char kind = trace->lines.kind;
  if (!trace->has_version && kind != 'v') return heaptrack_trace_fail(trace, "stands before the version");
  switch (kind) {
  case 'v': return define_version(trace);
  case 'X': return define_command(trace);
  case 's': return define_text(trace);
  case 'i': return define_code(trace);
  case 't': return define_trace(trace);
  case 'a': return define_kind(trace);
  case '+':
  case '-': return read_kind(trace, &number);
  case 'c':
    return heaptrack_numbers(&trace->lines, &number, 1) &&
           (number <= clock_most_ms || heaptrack_trace_fail(trace, "has a time that cannot be"));
  case 'A': /* heaptrack was attached to the process later */
  case 'I':
  case 'R':
  case 'S':
  case '#': return true;
  case 'x':
  case 'm':
    return heaptrack_trace_fail(
        trace, "is one of a raw recording, which heaptrack_interpret has to translate first");
  default: return heaptrack_trace_fail(trace, "is of an unknown kind");
  }
}

static void heaptrack_trace_set_at(struct heaptrack *trace, struct trace_event *event) {
  event->at.time_ns = trace->time_ns++;
  event->at.thread = 1;
}

/* Keeps a block as the latest one of its kind. */
static bool heaptrack_trace_keep(struct heaptrack *trace, struct kind *kind, uint64_t block) {
  struct living living = {.block = block};
  uint32_t place = trace->unused;
  if (place) {
    trace->unused = trace->living.items[place].after;
    trace->living.items[place] = living;
  } else {
    place = (uint32_t)trace->living.count;
    if (!(APPEND(trace, trace->living, living))) return false;
  }
  if (kind->oldest)
    trace->living.items[kind->latest].after = place;
  else
    kind->oldest = place;
  kind->latest = place;
  return true;
}

static bool heaptrack_trace_give_sample(struct heaptrack *trace, struct kind *kind,
                                        struct trace_event *event) {
  uint64_t block = ++trace->blocks;
  if (!heaptrack_trace_keep(trace, kind, block)) return false;
  event->kind = TRACE_SAMPLE;
  event->sample = (struct trace_sample){.stack = kind->node,
                                        .block = block,
                                        .size = kind->size,
                                        .words = (kind->size + 7) / 8 + 1,
                                        .n_samples = 1};
  heaptrack_trace_set_at(trace, event);
  return true;
}

/* A deallocation without an allocation has a block that does not exist. */
static void heaptrack_trace_give_free(struct heaptrack *trace, struct kind *kind, struct trace_event *event) {
  uint32_t place = kind->oldest;
  struct living *living = place ? &trace->living.items[place] : NULL;
  event->kind = TRACE_FREE;
  event->free = (struct trace_free){.block = living ? living->block : UINT64_MAX};
  heaptrack_trace_set_at(trace, event);
  if (!living) return;
  kind->oldest = living->after;
  living->after = trace->unused;
  trace->unused = place;
}

static void set_clock(struct heaptrack *trace, uint64_t ms) {
  if (ms * 1000000 > trace->time_ns) trace->time_ns = ms * 1000000;
}

/* The first pass has checked all lines; a file that changed in between ends here. */
static bool heaptrack_trace_next(struct profile *profile, struct trace_event *event) {
  struct heaptrack *trace = (struct heaptrack *)profile;
  uint64_t number;
  while (!trace->no_memory && heaptrack_next(&trace->lines)) {
    char kind = trace->lines.kind;
    if (kind == 'c' && heaptrack_number(&trace->lines, &number) && number <= clock_most_ms)
      set_clock(trace, number);
    if ((kind != '+' && kind != '-') || !read_kind(trace, &number)) continue;
    if (kind == '-') return heaptrack_trace_give_free(trace, &trace->kinds.items[number], event), true;
    if (heaptrack_trace_give_sample(trace, &trace->kinds.items[number], event)) return true;
  }
  trace->profile.damage.out_of_memory = trace->no_memory;
  return false;
}

static double heaptrack_trace_position(const struct profile *profile) {
  return inflated_position(((const struct heaptrack *)profile)->lines.file);
}

static const struct profile_events events = {
    .next = heaptrack_trace_next, .position = heaptrack_trace_position, .close = close_lists};

/* ---- opening ---- */

static wn_status heaptrack_trace_no_memory(const char *path) {
  return error_set(WN_ENOMEM, "%s: not enough memory to read it", path);
}

static void heaptrack_trace_describe(struct profile *profile) {
  profile_set_events(profile, &events);
  profile->limits.tick_ns = tick_ns;
  snprintf(
      profile->note, sizeof profile->note,
      "The file was written by heaptrack: every allocation and deallocation, with a clock of about 10 ms. It "
      "does not tell which of equal blocks was freed, so there are no lives and no growth, and tells "
      "nothing of threads and of how the program ended; realloc counts as an allocation of the whole block.");
}

static bool begin_lists(struct heaptrack *trace) {
  return APPEND(trace, trace->texts, 0) && APPEND(trace, trace->codes, (struct code){0}) &&
         APPEND(trace, trace->traces, 0) && APPEND(trace, trace->living, (struct living){0});
}

static wn_status begin_pass(struct heaptrack *trace, const char *path) {
  trace->lines.number = 0;
  return inflated_open(path, &trace->lines.file);
}

static wn_status check_all(struct heaptrack *trace, const char *path) {
  struct heaptrack_lines *lines = &trace->lines;
  wn_status error = begin_pass(trace, path);
  if (error) return error;
  while (heaptrack_next(lines) && check_line(trace)) continue;
  const char *fault = inflated_fault(lines->file);
  if (trace->no_memory)
    error = heaptrack_trace_no_memory(path);
  else if (fault)
    error = error_set(WN_EINVAL, "%s: a damaged file of heaptrack: after its line %" PRIu64 " %s", path,
                      lines->number, fault);
  else if (lines->fault)
    error = error_set(WN_EINVAL, "%s: a %sfile of heaptrack: its line %" PRIu64 " %s", path,
                      strchr("xm", lines->kind) ? "" : "damaged ", lines->number, lines->fault);
  inflated_close(lines->file);
  lines->file = NULL;
  return error;
}

/* ---- shared ---- */

bool heaptrack_trace_begins(const unsigned char *bytes, size_t count) {
  size_t at = 2;
  if (count < 8 || memcmp(bytes, "v ", 2)) return false;
  while (at < count && isxdigit(bytes[at])) at++;
  return at > 2 && at + 1 < count && bytes[at] == ' ' && isxdigit(bytes[at + 1]);
}

wn_status heaptrack_trace_open(const char *path, struct source **source) {
  struct profile *profile = profile_create(sizeof(struct heaptrack), "heaptrack", path);
  if (!profile) return heaptrack_trace_no_memory(path);
  struct heaptrack *trace = (struct heaptrack *)profile;
  heaptrack_trace_describe(profile);
  wn_status error = begin_lists(trace) ? check_all(trace, path) : heaptrack_trace_no_memory(path);
  if (!error) error = begin_pass(trace, path);
  if (error)
    source_close(&profile->source);
  else
    *source = &profile->source;
  return error;
}
/* SPDX-License-Identifier: MIT */
