/* Reads events and writes them again.
 *
 * BEGINS. A recorder's domain begins its first packet, and takes the numbers of its first blocks,
 * when it begins to run. So a copy begins each domain at the time of its first packet, and of
 * several domains the one with the smaller numbers first. Then it has the numbers of the original,
 * and, where the recorder completed no packet early, its bytes. */
#include "memtrace/copy.h"

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "memtrace/reader.h"
#include "memtrace/writer.h"
#include <stdlib.h>

enum { FIRST_SLOTS = 1 << 12, WRITTEN_AT_ONCE = 1 << 20 };

/* The numbers of blocks, by those of the original: an open table whose size is a power of two. They
 * differ where the original has gaps, or several domains become one. */
struct numbers {
  struct number {
    uint64_t original, copy;
    bool used;
  } * slots;
  size_t count, size;
};

struct copy {
  FILE *out;
  struct memtrace_reader *reader;
  struct memtrace_writer writer;
  struct memtrace_begin *begins; /* BEGINS */
  uint32_t begin_count, begun;
  struct writer_domain **domains; /* by the reader's number; version 2 has the first only */
  struct numbers numbers;
  uint64_t *codes; /* of the stack at hand */
  size_t capacity;
  struct writer_place places[WRITER_PLACES_MOST];
};

static wn_status copy_no_memory(void) { return error_set(WN_ENOMEM, "not enough memory to copy the trace"); }

/* ---- numbers of blocks ---- */

static struct number *copy_slot_of(const struct numbers *numbers, uint64_t original) {
  size_t at = (size_t)hash_mix(original) & (numbers->size - 1);
  while (numbers->slots[at].used && numbers->slots[at].original != original)
    at = (at + 1) & (numbers->size - 1);
  return &numbers->slots[at];
}

static bool numbers_grow(struct numbers *numbers) {
  struct numbers grown = {.count = numbers->count, .size = numbers->size ? 2 * numbers->size : FIRST_SLOTS};
  grown.slots = calloc(grown.size, sizeof *grown.slots);
  if (!grown.slots) return false;
  for (size_t i = 0; i < numbers->size; i++)
    if (numbers->slots[i].used) *copy_slot_of(&grown, numbers->slots[i].original) = numbers->slots[i];
  free(numbers->slots);
  *numbers = grown;
  return true;
}

static bool numbers_add(struct numbers *numbers, uint64_t original, uint64_t copy) {
  if (2 * numbers->count >= numbers->size && !numbers_grow(numbers)) return false;
  struct number *slot = copy_slot_of(numbers, original);
  numbers->count += !slot->used;
  *slot = (struct number){original, copy, true};
  return true;
}

/* NULL: the block's allocation was not copied. */
static const struct number *numbers_find(const struct numbers *numbers, uint64_t original) {
  const struct number *slot = numbers->size ? copy_slot_of(numbers, original) : NULL;
  return slot && slot->used ? slot : NULL;
}

/* ---- codes ---- */

static size_t copy_places_of(void *context, uint64_t code, const struct writer_place **places) {
  struct copy *copy = context;
  const struct memtrace_names *names = memtrace_reader_names(copy->reader);
  struct memtrace_locations found = memtrace_locations_of(names, code);
  for (uint32_t i = 0; i < found.count && i < WRITER_PLACES_MOST; i++) {
    const struct memtrace_location *location = &found.list[i];
    copy->places[i] = (struct writer_place){.file = memtrace_text(names, location->file),
                                            .function = memtrace_text(names, location->function),
                                            .line = location->line,
                                            .start = location->start,
                                            .end = location->end};
  }
  *places = copy->places;
  return found.count;
}

/* The codes of a stack that are known; their number, or SIZE_MAX without memory. */
static size_t known_codes(struct copy *copy, const struct memtrace_stack *stack) {
  size_t count = 0;
  if (!array_reserve(&copy->codes, &copy->capacity, stack->depth, sizeof *copy->codes)) return SIZE_MAX;
  for (size_t i = 0; i < stack->depth; i++)
    if (stack->codes[i] != MEMTRACE_LOST && stack->codes[i]) copy->codes[count++] = stack->codes[i];
  return count;
}

/* ---- events ---- */

/* BEGINS: begins the domains that began by now. False without memory. */
static bool begin_domains(struct copy *copy, uint64_t time_us) {
  for (; copy->begun < copy->begin_count && copy->begins[copy->begun].time_us <= time_us; copy->begun++) {
    const struct memtrace_begin *begin = &copy->begins[copy->begun];
    struct writer_domain **domain = &copy->domains[begin->number];
    if (copy->writer.version < 3 && copy->begun) {
      *domain = copy->domains[copy->begins[0].number];
      continue;
    }
    *domain = writer_domain_begin(&copy->writer, copy->writer.version < 3 ? 0 : begin->id, begin->time_us);
    if (!*domain) return false;
  }
  return true;
}

static bool copy_event(struct copy *copy, const struct memtrace_event *event, uint64_t time_us) {
  struct writer_domain *domain = copy->domains[event->domain_number];
  if (event->kind == MEMTRACE_ALLOCATION) {
    size_t depth = known_codes(copy, &event->stack);
    return depth != SIZE_MAX &&
           numbers_add(&copy->numbers, event->block,
                       writer_allocate(&copy->writer, domain, time_us, (int64_t)event->length,
                                       (int64_t)event->samples, (enum writer_source)event->source,
                                       copy->codes, depth));
  }
  const struct number *number = numbers_find(&copy->numbers, event->block);
  if (!number) return true;
  if (event->kind == MEMTRACE_PROMOTION)
    writer_promote(&copy->writer, domain, time_us, number->copy);
  else
    writer_collect(&copy->writer, domain, time_us, number->copy);
  return true;
}

static void copy_write_away(struct copy *copy, size_t least) {
  struct writer_bytes *file = &copy->writer.file;
  if (file->count < least) return;
  fwrite(file->bytes, 1, file->count, copy->out);
  file->count = 0;
}

static bool copy_events(struct copy *copy) {
  uint64_t begin_us = memtrace_reader_info(copy->reader)->begin_us;
  struct memtrace_event event;
  bool done = true;
  while (done && !copy->writer.file.failed && !ferror(copy->out) &&
         memtrace_reader_next(copy->reader, &event)) {
    uint64_t time_us = begin_us + event.time_us;
    done = begin_domains(copy, time_us) && copy_event(copy, &event, time_us);
    copy_write_away(copy, WRITTEN_AT_ONCE);
  }
  return done && begin_domains(copy, UINT64_MAX) && !memtrace_reader_loss(copy->reader)->out_of_memory;
}

static void end_domains(struct copy *copy) {
  uint32_t count = copy->writer.version < 3 && copy->begun ? 1 : copy->begun;
  for (uint32_t i = 0; i < count; i++)
    writer_domain_end(&copy->writer, copy->domains[copy->begins[i].number]);
}

/* ---- shared ---- */

static void copy_begin_file(struct copy *copy, unsigned version) {
  const struct memtrace_info *info = memtrace_reader_info(copy->reader);
  const struct writer_run run = {.rate = info->rate,
                                 .word_bits = info->word_bits,
                                 .domain = info->domain,
                                 .executable = info->executable,
                                 .host = info->host,
                                 .parameters = info->parameters,
                                 .context = info->context,
                                 .pid = info->pid,
                                 .begin_us = info->begin_us};
  memtrace_writer_begin(&copy->writer, version, &run, copy_places_of, copy);
}

wn_status memtrace_copy(FILE *out, const char *path, unsigned version) {
  struct copy copy = {.out = out};
  wn_status error = memtrace_reader_open(path, &copy.reader);
  if (error) return error;
  copy.begins = memtrace_reader_begins(copy.reader, &copy.begin_count);
  copy.domains = calloc((size_t)memtrace_reader_domains(copy.reader) + 1, sizeof *copy.domains);
  bool done = copy.begins && copy.domains;
  if (done) {
    copy_begin_file(&copy, version);
    done = copy_events(&copy);
    end_domains(&copy);
    done = done && !copy.writer.file.failed;
    copy_write_away(&copy, 0);
    memtrace_writer_end(&copy.writer);
  }
  memtrace_reader_close(copy.reader);
  free(copy.begins);
  free(copy.domains);
  free(copy.numbers.slots);
  free(copy.codes);
  return done ? WN_OK : copy_no_memory();
}
/* SPDX-License-Identifier: MIT */
