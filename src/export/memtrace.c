/* A trace for Memtrace's tools and its viewer, in version 3 of the format or in version 2, which its
 * releases up to 0.2.3 read.
 *
 * A trace of Memtrace itself is copied (memtrace_copy.h), unless the user selects or groups. Any other
 * trace becomes one, with the blocks that the user's query selects; with --at only those that were
 * alive then.
 *
 * BLOCKS. The format does not know blocks that change their size. So a block that realloc made larger
 * is found dead, and allocated again by the call that did it: the report counts it likewise (OWNER of
 * samples.h). A block that was made smaller keeps its size.
 *
 * SAMPLES. Readers multiply the number of samples by the words between two samples. So a block has
 * the number that this makes the report's estimate of its words: words * rate / probability, which is
 * 1 or more. It is rounded down, and what is cut off is added to the next block of the file: of all
 * blocks together less than one sample is missing.
 *
 * DOMAINS. Version 3 has domains, so each thread of the trace is one, up to DOMAINS; the threads
 * after these are one together. Version 2 has one domain. A block of malloc is `external`.
 *
 * CODES. A code is an address of the program, with those of its frames that the report shows
 * (shown.h): nodes of the same module and offset, and with the same frames, have the same one. If
 * the user gave a grouping, a code is a label of the report's call paths instead. Some of
 * Memtrace's tools stop at an empty stack, so one has the code of "(no callstack)". */
#include "export/formats.h"

#include "analysis/load/order.h"
#include "base/error.h"
#include "export/shown.h"
#include "memtrace/copy.h"
#include "memtrace/writer.h"
#include "sources/files/open.h"
#include <stdlib.h>
#include <string.h>

enum { DOMAINS = 64, WRITTEN_AT_ONCE = 1 << 20 };
enum step { BORN, PROMOTED, DIED, STEPS };

struct converting {
  FILE *out;
  const struct export *export;
  const struct samples *samples;
  const struct names *names;
  struct memtrace_writer writer;
  struct writer_domain *domains[DOMAINS];
  uint32_t threads[DOMAINS]; /* by domain; 0: none */
  struct shown_stacks stacks;
  uint32_t *code; /* CODES; by twice a node, and one more for the frames that it owns; 0: none */
  uint32_t *of;   /* by code: such a number; 0: of the empty stack, which is the last code */
  uint32_t code_count;
  struct export_stacks groups; /* if the user gave a grouping */
  uint64_t *block, *end;       /* by row: the number of its block in the file, and when that ends */
  uint8_t *domain_of;          /* by row */
  uint64_t *stack;             /* of codes, innermost first and then outermost first */
  double rest;                 /* SAMPLES */
  struct writer_place places[WRITER_PLACES_MOST];
  char label[STACK_LABEL_MOST]; /* of the place that is a group */
};

static wn_status memtrace_no_memory(void) { return error_set(WN_ENOMEM, "not enough memory for the trace"); }

/* ---- codes ---- */

/* The frames that a code has; `of` is a number as in struct converting. */
static uint64_t frames_of(const struct converting *to, uint32_t of) {
  const struct shown *shown = &to->stacks.shown[of / 2];
  return of % 2 ? shown->owned : shown->all;
}

static bool memtrace_is_same_code(const struct converting *to, uint32_t of, uint32_t other) {
  struct trace_node one = source_stack(to->samples->source, of / 2),
                    two = source_stack(to->samples->source, other / 2);
  return one.module == two.module && one.offset == two.offset && frames_of(to, of) == frames_of(to, other);
}

/* Orders the numbers of codes by module, then offset, then frames. */
static bool order_codes(const struct converting *to, struct keyed *keyed, uint32_t count) {
  const struct source *source = to->samples->source;
  for (uint32_t i = 0; i < count; i++) keyed[i].key = frames_of(to, keyed[i].item);
  if (!order_by_key(keyed, count)) return false;
  for (uint32_t i = 0; i < count; i++) keyed[i].key = source_stack(source, keyed[i].item / 2).offset;
  if (!order_by_key(keyed, count)) return false;
  for (uint32_t i = 0; i < count; i++) keyed[i].key = source_stack(source, keyed[i].item / 2).module;
  return order_by_key(keyed, count);
}

/* Codes are numbers from 1 on. */
static bool make_address_codes(struct converting *to) {
  uint32_t count = 0, most = 2 * (source_stack_count(to->samples->source) + 1);
  struct keyed *keyed = calloc(most, sizeof *keyed);
  to->code = calloc(most, sizeof *to->code);
  to->of = calloc((size_t)most + 1, sizeof *to->of);
  to->stack = calloc(most, sizeof *to->stack);
  bool done =
      shown_stacks_create(to->export->report, &to->stacks) && keyed && to->code && to->of && to->stack;
  for (uint32_t of = 2; done && of < most; of++)
    if (frames_of(to, of)) keyed[count++].item = of;
  done = done && order_codes(to, keyed, count);
  for (uint32_t i = 0; done && i < count; i++) {
    uint32_t of = keyed[i].item;
    if (!to->code_count || !memtrace_is_same_code(to, to->of[to->code_count], of))
      to->of[++to->code_count] = of;
    to->code[of] = to->code_count;
  }
  if (done) to->code_count++; /* that of the empty stack */
  free(keyed);
  return done;
}

/* Codes are the labels' numbers plus 1. */
static bool make_group_codes(struct converting *to) {
  const struct export *export = to->export;
  if (export_stacks_create(export->report, export->grouping, &to->groups)) return false;
  to->stack = calloc(to->groups.paths.node_count, sizeof *to->stack);
  return to->stack;
}

static bool make_codes(struct converting *to) {
  return to->export->grouped ? make_group_codes(to) : make_address_codes(to);
}

static const char *memtrace_text_of(const struct converting *to, uint32_t string) {
  return strings_text(to->names->strings, string);
}

/* Columns count from 1 in a trace, and a range has a last one; in the file they count from 0, and a
 * range has an end. Code without a source file is named by its module. */
static struct writer_place place_of_memtrace(const struct converting *to, const struct frame *frame) {
  const char *file = memtrace_text_of(to, frame->file);
  return (struct writer_place){.file = *file ? file : memtrace_text_of(to, frame->module),
                               .function = memtrace_text_of(to, frame->function),
                               .line = frame->line,
                               .start = frame->first_column ? frame->first_column - 1 : 0,
                               .end = frame->last_column};
}

static struct writer_place memtrace_place_of_group(struct converting *to, uint64_t code) {
  export_stacks_label(&to->groups, (uint32_t)code - 1, to->label);
  return (struct writer_place){.file = "", .function = to->label};
}

static size_t memtrace_places_of(void *context, uint64_t code, const struct writer_place **places) {
  struct converting *to = context;
  *places = to->places;
  if (to->export->grouped) return to->places[0] = memtrace_place_of_group(to, code), 1;
  if (!to->of[code])
    return to->places[0] = (struct writer_place){.file = "", .function = "(no callstack)"}, 1;
  struct frames frames = names_of(to->names, to->of[code] / 2);
  uint64_t shown = frames_of(to, to->of[code]);
  size_t count = 0;
  for (int i = SHOWN_MOST; i-- > 0;)
    if (shown >> i & 1) to->places[count++] = place_of_memtrace(to, &frames.frame[i]);
  return count;
}

static size_t address_codes_of(struct converting *to, uint32_t stack) {
  size_t depth = 0;
  uint32_t node = to->stacks.owner_of[stack];
  if (node) to->stack[depth++] = to->code[2 * node + 1];
  while (node) {
    node = source_stack(to->samples->source, node).parent;
    if (to->code[2 * node]) to->stack[depth++] = to->code[2 * node];
  }
  if (!depth) to->stack[depth++] = to->code_count;
  return depth;
}

static size_t group_codes_of(struct converting *to, const struct row *row) {
  struct export_stacks *groups = &to->groups;
  size_t depth = export_stacks_path(groups, stack_values_owner(&groups->paths, row));
  for (size_t i = 0; i < depth; i++) to->stack[i] = groups->paths.nodes[groups->path[i]].label + 1;
  return depth;
}

/* Sets `stack` to the codes of a row's stack, outermost first, and returns their number. No node is
 * its own caller, so they are at most as many as the nodes. */
static size_t codes_of(struct converting *to, const struct row *row) {
  size_t depth = to->export->grouped ? group_codes_of(to, row) : address_codes_of(to, row->stack);
  for (size_t i = 0; i < depth / 2; i++) {
    uint64_t code = to->stack[i];
    to->stack[i] = to->stack[depth - 1 - i];
    to->stack[depth - 1 - i] = code;
  }
  return depth;
}

/* ---- events ---- */

/* Whether a row begins a block of the file; BLOCKS. */
static bool is_block(const struct converting *to, const struct row *row) {
  const struct report *report = to->export->report;
  if (!row->call || !report_selects(row, (void *)(uintptr_t)report)) return false;
  return !to->export->moment_given ||
         (row->begin_ns <= report->asked.time_ns && report->asked.time_ns < to->end[row - to->samples->rows]);
}

/* Sets `end` of all rows: when the block that a row begins ends, at the next call for the trace's
 * block, or with its life. */
static bool memtrace_find_ends(struct converting *to) {
  const struct samples *samples = to->samples;
  size_t count;
  struct keyed *resized = samples_resized(samples, &count);
  bool done = resized;
  for (size_t i = 0; i < samples->row_count; i++) to->end[i] = samples->rows[i].died_ns;
  for (size_t i = count; done && i-- > 1;) {
    const struct row *later = &samples->rows[resized[i].item];
    if (resized[i - 1].key != resized[i].key) continue;
    to->end[resized[i - 1].item] = later->call ? later->begin_ns : to->end[resized[i].item];
  }
  free(resized);
  return done;
}

/* The steps of all blocks in the order of time; of equal times in that of `enum step`. NULL without
 * memory. */
static struct keyed *memtrace_order_steps(const struct converting *to, size_t *count) {
  const struct samples *samples = to->samples;
  struct keyed *steps = calloc(STEPS * samples->row_count + 1, sizeof *steps);
  *count = 0;
  if (!steps) return NULL;
  for (int step = 0; step < STEPS; step++)
    for (size_t i = 0; i < samples->row_count; i++) {
      const struct row *row = &samples->rows[i];
      uint64_t time_ns = step == BORN ? row->begin_ns : step == DIED ? to->end[i] : row->promoted_ns;
      if (time_ns == UINT64_MAX || !is_block(to, row)) continue;
      steps[(*count)++] = (struct keyed){time_ns, (uint32_t)(STEPS * i) + (uint32_t)step};
    }
  return order_owned(steps, *count);
}

static struct writer_domain *memtrace_domain_of(struct converting *to, uint32_t thread, uint64_t time_us,
                                                uint8_t *number) {
  unsigned i = 0, most = to->writer.version < 3 ? 1 : DOMAINS;
  while (i + 1 < most && to->threads[i] && to->threads[i] != thread) i++;
  if (!to->domains[i]) to->domains[i] = writer_domain_begin(&to->writer, i, time_us);
  if (!to->threads[i]) to->threads[i] = thread;
  *number = (uint8_t)i;
  return to->domains[i];
}

/* SAMPLES */
static int64_t samples_of(struct converting *to, const struct row *row) {
  if (!(row->probability > 0)) return 1; /* a damaged trace: at the rate 0 nothing is sampled */
  double exact = (double)row->words * to->export->report->recording->rate / row->probability + to->rest;
  int64_t whole = exact < 1 ? 1 : (int64_t)exact;
  to->rest = exact - (double)whole;
  return whole;
}

static enum writer_source source_of(const struct row *row) {
  static const enum writer_source sources[] = {
      [AREA_NONE] = WRITER_EXTERNAL,
      [AREA_MINOR] = WRITER_MINOR,
      [AREA_MAJOR] = WRITER_MAJOR,
      [AREA_OUTSIDE] = WRITER_EXTERNAL,
  };
  return sources[row->area];
}

static bool memtrace_write_birth(struct converting *to, size_t i, uint64_t time_us) {
  const struct row *row = &to->samples->rows[i];
  struct writer_domain *domain = memtrace_domain_of(to, row->thread, time_us, &to->domain_of[i]);
  if (!domain) return false;
  size_t depth = codes_of(to, row);
  uint64_t word = (uint64_t)to->samples->word_bytes;
  to->block[i] = writer_allocate(&to->writer, domain, time_us, (int64_t)((row->size + word - 1) / word),
                                 samples_of(to, row), source_of(row), to->stack, depth);
  return true;
}

static bool memtrace_write_step(struct converting *to, const struct keyed *step, uint64_t begin_us) {
  uint64_t time_us = begin_us + step->key / 1000;
  size_t row = step->item / STEPS;
  struct writer_domain *domain = to->domains[to->domain_of[row]];
  switch ((enum step)(step->item % STEPS)) {
  case BORN: return memtrace_write_birth(to, row, time_us);
  case PROMOTED: writer_promote(&to->writer, domain, time_us, to->block[row]); return true;
  default: writer_collect(&to->writer, domain, time_us, to->block[row]); return true;
  }
}

static void memtrace_write_away(struct converting *to, size_t least) {
  struct writer_bytes *file = &to->writer.file;
  if (file->count < least) return;
  fwrite(file->bytes, 1, file->count, to->out);
  file->count = 0;
}

static bool memtrace_write_steps(struct converting *to, uint64_t begin_us) {
  size_t count;
  struct keyed *steps = memtrace_order_steps(to, &count);
  bool done = steps;
  for (size_t i = 0; done && i < count && !ferror(to->out); i++) {
    done = memtrace_write_step(to, &steps[i], begin_us);
    memtrace_write_away(to, WRITTEN_AT_ONCE);
  }
  free(steps);
  return done;
}

/* ---- the run ---- */

static void text_copy(char *to, size_t size, const struct trace_text *text) {
  size_t length = text->length < size - 1 ? text->length : size - 1;
  if (length) memcpy(to, text->bytes, length);
  to[length] = 0;
}

static void memtrace_begin_file(struct converting *to, unsigned version) {
  const struct trace_run *run = source_run(to->samples->source);
  char executable[4096], host[256], context[4096];
  text_copy(executable, sizeof executable, &run->command); /* up to its first NUL */
  text_copy(host, sizeof host, &run->host);
  text_copy(context, sizeof context, &run->context);
  const struct writer_run about = {.rate = to->export->report->recording->rate,
                                   .word_bits = (unsigned)to->samples->word_bytes * 8,
                                   .executable = executable,
                                   .host = host,
                                   .parameters = "",
                                   .context = context,
                                   .pid = run->pid,
                                   .begin_us = run->wall_ns / 1000};
  memtrace_writer_begin(&to->writer, version, &about, memtrace_places_of, to);
}

static wn_status memtrace_convert(FILE *out, const struct export *export, unsigned version) {
  const struct samples *samples = export->report->samples;
  struct converting *to = calloc(1, sizeof *to);
  if (!to) return memtrace_no_memory();
  *to = (struct converting){.out = out, .export = export, .samples = samples, .names = export->report->names};
  to->block = calloc(samples->row_count + 1, sizeof *to->block);
  to->end = calloc(samples->row_count + 1, sizeof *to->end);
  to->domain_of = calloc(samples->row_count + 1, sizeof *to->domain_of);
  bool done = to->block && to->end && to->domain_of && make_codes(to) && memtrace_find_ends(to);
  if (done) {
    memtrace_begin_file(to, version);
    done = memtrace_write_steps(to, source_run(samples->source)->wall_ns / 1000);
    for (unsigned i = 0; i < DOMAINS; i++)
      if (to->domains[i]) writer_domain_end(&to->writer, to->domains[i]);
    done = done && !to->writer.file.failed;
    memtrace_write_away(to, 0);
    memtrace_writer_end(&to->writer);
  }
  free(to->block);
  free(to->end);
  free(to->domain_of);
  free(to->code);
  free(to->of);
  shown_stacks_destroy(&to->stacks);
  free(to->stack);
  export_stacks_destroy(&to->groups);
  free(to);
  return done ? WN_OK : memtrace_no_memory();
}

static wn_status write_version(FILE *out, const struct export *export, unsigned version) {
  bool whole =
      !export->where && !export->moment_given && !export->grouped && source_is_memtrace(export->path);
  return whole ? memtrace_copy(out, export->path, version) : memtrace_convert(out, export, version);
}

/* ---- shared ---- */

wn_status export_memtrace(FILE *out, const struct export *export) { return write_version(out, export, 3); }
wn_status export_memtrace2(FILE *out, const struct export *export) { return write_version(out, export, 2); }
/* SPDX-License-Identifier: MIT */
