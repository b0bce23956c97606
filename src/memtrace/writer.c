/* Codes stacks and names; packets and events. */
#include "memtrace/writer.h"

#include "base/array.h"
#include <stdlib.h>
#include <string.h>

enum { CODEWORDS_MOST = 4096, CODEWORD = 10, PREDICTED_MOST = 255 };
enum { LINE_MOST = 0xfffff, START_MOST = 0xff, END_MOST = 0x3ff };

/* ---- bytes ---- */

static void writer_put(struct writer_bytes *to, const void *bytes, size_t count) {
  bool room = array_reserve(&to->bytes, &to->capacity, to->count + count, 1);
  to->failed |= !room;
  if (!room) return;
  if (count) memcpy(to->bytes + to->count, bytes, count);
  to->count += count;
}

static void writer_put_unsigned(struct writer_bytes *to, uint64_t value, size_t count) {
  writer_put(to, &value, count);
}

static void writer_put_text(struct writer_bytes *to, const char *text) {
  writer_put(to, text, strlen(text) + 1);
}

/* ---- names ---- */

/* Moves a name to the front of a list and returns its code; WRITER_NAMES if it was not there. `from`
 * is the index that was taken out. */
static unsigned move_to_front(struct writer_list *list, const char *name, size_t *from, bool *failed) {
  size_t at = 0;
  while (at < list->count && strcmp(list->names[at], name) != 0) at++;
  bool found = at < list->count;
  char *moved = found ? list->names[at] : strdup(name);
  if (!moved) return *from = 0, *failed = true, WRITER_NAMES;
  if (!found) at = list->count < WRITER_NAMES ? list->count++ : WRITER_NAMES - 1;
  if (!found) free(list->names[at]);
  memmove(list->names + 1, list->names, at * sizeof *list->names);
  list->names[0] = moved;
  *from = at;
  return found ? (unsigned)at : WRITER_NAMES;
}

static void list_destroy(struct writer_list *list) {
  for (size_t i = 0; i < WRITER_NAMES; i++) free(list->names[i]);
  *list = (struct writer_list){.count = 0};
}

static void writer_lists_destroy(struct writer_domain *domain) {
  list_destroy(&domain->files);
  for (size_t i = 0; i < WRITER_NAMES; i++) list_destroy(&domain->functions[i]);
}

static uint64_t codes_limited(uint32_t value, uint32_t most) { return value > most ? most : value; }

/* A file's functions move with it. Those of a file that is new are none. */
static void put_place(struct writer_domain *domain, struct writer_bytes *to,
                      const struct writer_place *place) {
  size_t at, ignored;
  unsigned file = move_to_front(&domain->files, place->file, &at, &to->failed);
  if (file == WRITER_NAMES) list_destroy(&domain->functions[at]);
  struct writer_list functions = domain->functions[at];
  memmove(domain->functions + 1, domain->functions, at * sizeof functions);
  unsigned function = move_to_front(&functions, place->function, &ignored, &to->failed);
  domain->functions[0] = functions;
  uint64_t bits = codes_limited(place->line, LINE_MOST) | codes_limited(place->start, START_MOST) << 20 |
                  codes_limited(place->end, END_MOST) << 28 | (uint64_t)file << 38 | (uint64_t)function << 43;
  writer_put_unsigned(to, bits, 6);
  if (file == WRITER_NAMES) writer_put_text(to, place->file);
  if (function == WRITER_NAMES) writer_put_text(to, place->function);
}

static bool are_too_large(const struct writer_place *places, size_t count) {
  size_t bytes = 9;
  for (size_t i = 0; i < count; i++) bytes += 6 + strlen(places[i].file) + 1 + strlen(places[i].function) + 1;
  return count > WRITER_PLACES_MOST || bytes > CODEWORDS_MOST;
}

/* Writes what a code stands for, without the event's head. */
static void writer_put_location(struct memtrace_writer *writer, struct writer_domain *domain,
                                struct writer_bytes *to, uint64_t code) {
  static const struct writer_place unknown = {"<unknown>", "??", 1, 1, 1};
  const struct writer_place *places;
  size_t count = writer->places(writer->context, code, &places);
  if (count && are_too_large(places, count)) {
    places = &unknown;
    count = 1;
  }
  writer_put_unsigned(to, code, 8);
  writer_put_unsigned(to, count, 1);
  for (size_t i = 0; i < count; i++) put_place(domain, to, &places[i]);
}

/* ---- stacks ---- */

/* The number of outermost frames that a stack shares with the domain's last one. */
static size_t writer_common(const struct writer_domain *domain, const uint64_t *codes, size_t depth) {
  size_t common = 0;
  while (common < domain->depth && common < depth && domain->stack[common] == codes[common]) common++;
  return common;
}

static void put_codeword(struct writer_bytes *to, unsigned slot, unsigned predicted) {
  unsigned tag = predicted < 2 ? predicted : 2;
  writer_put_unsigned(to, slot << 2 | tag, 2);
  if (tag == 2) writer_put_unsigned(to, predicted, 1);
}

/* Finds the slot of a code; false: the code had to take one. The code's two slots, and which of them
 * it takes, are those of Memtrace. */
static bool find_slot(struct writer_domain *domain, uint64_t code, unsigned *slot) {
  unsigned one = (unsigned)(code * 0x4983723 >> 11) & (WRITER_SLOTS - 1),
           other = (unsigned)(code * 0xfdea731 >> 21) & (WRITER_SLOTS - 1);
  bool hit = true;
  if (domain->code[one] == code)
    *slot = one;
  else if (domain->code[other] == code)
    *slot = other;
  else
    *slot = domain->date[one] < domain->date[other] ? one : other, hit = false;
  domain->code[*slot] = code;
  domain->date[*slot] = domain->next_block;
  return hit;
}

/* Passes the frames that the slots from `*slot` on predict, and writes the codewords. Returns how
 * many frames; `*slot` is the last one's. */
static size_t predict(struct writer_domain *domain, const uint64_t *codes, size_t depth, unsigned *slot,
                      unsigned *words) {
  struct writer_bytes *to = &domain->codewords;
  unsigned first = *slot, predicted = 0;
  size_t at = 0;
  for (; at < depth && to->count + 2 <= CODEWORDS_MOST - CODEWORD; at++) {
    unsigned next = domain->next[*slot];
    if (domain->code[next] != codes[at]) break;
    if (predicted == PREDICTED_MOST) {
      put_codeword(to, first, predicted);
      domain->date[next] = domain->next_block;
      first = next;
      predicted = 0;
      (*words)++;
    } else {
      predicted++;
    }
    *slot = next;
  }
  put_codeword(to, first, predicted);
  return at;
}

/* Writes the frames of a stack from `common` on to domain->codewords, as far as it may have bytes,
 * and notes codes that are to be described. Returns the number of codewords. */
static unsigned writer_code_stack(struct writer_domain *domain, const uint64_t *codes, size_t depth,
                                  size_t common) {
  struct writer_bytes *to = &domain->codewords;
  unsigned last = 0, words = 0;
  to->count = 0;
  for (size_t at = common; at < depth && to->count <= CODEWORDS_MOST - CODEWORD; words++) {
    unsigned slot;
    uint64_t code = codes[at];
    bool hit = find_slot(domain, code, &slot);
    domain->next[last] = (uint16_t)slot;
    last = slot;
    at++;
    if (hit) {
      at += predict(domain, codes + at, depth - at, &last, &words);
    } else {
      domain->queue[domain->queued++] = code;
      writer_put_unsigned(to, slot << 2 | 3, 2);
      writer_put_unsigned(to, code, 8);
    }
  }
  return words;
}

/* ---- numbers ---- */

enum {
  HEADER = 68,
  ROOM = 4196,      /* what an event takes at most */
  LOCATIONS = 4096, /* what the description of a code takes at most */
  QUEUE_MOST = 128,
  LATE_US = 30000000,
  CHUNK = 10000, /* numbers of blocks that a domain takes at a time */
  UNVERIFIED = 0xffff,
  VERIFY_FIRST = 4242,
  VERIFY_STEP = 5413
};
/* A stack has at most 4096 / 10 codes that are new, and is coded when at most QUEUE_MOST wait. */
_Static_assert(QUEUE_MOST + LOCATIONS / 10 + 1 < 4096, "the queue has room");

enum event {
  EVENT_RUN,
  EVENT_LOCATION,
  EVENT_ALLOCATION,
  EVENT_PROMOTION,
  EVENT_COLLECTION,
  EVENT_SHORT = 100
};

static void put_variable(struct writer_bytes *to, int64_t value) {
  unsigned bytes = value >= 0 && value <= 252                 ? 0
                   : value >= 0 && value <= UINT16_MAX        ? 2
                   : value >= INT32_MIN && value <= INT32_MAX ? 4
                                                              : 8;
  static const unsigned char marks[] = {[2] = 253, [4] = 254, [8] = 255};
  writer_put_unsigned(to, bytes ? marks[bytes] : (uint64_t)value, 1);
  writer_put_unsigned(to, (uint64_t)value, bytes);
}

static void writer_put_head(struct writer_bytes *to, uint64_t time_us, unsigned event) {
  writer_put_unsigned(to, (time_us & 0x1ffffff) | (uint64_t)event << 25, 4);
}

/* ---- packets ---- */

struct head {
  uint64_t begin_us, end_us, first_block, end_block;
  unsigned domain;
  uint16_t verify_slot, verify_next;
  uint64_t verify_code;
};

/* A packet has its domain from version 3 on. */
static size_t writer_header_bytes(const struct memtrace_writer *writer) {
  return writer->version < 3 ? HEADER - 2 : HEADER;
}

static void put_packet(struct memtrace_writer *writer, const struct head *head,
                       const struct writer_bytes *events) {
  struct writer_bytes *to = &writer->file;
  bool domains = writer->version >= 3;
  size_t bytes = writer_header_bytes(writer) + events->count;
  writer_put_unsigned(to, 0xc1fc1fc1, 4);
  writer_put_unsigned(to, bytes * 8, 4);
  writer_put_unsigned(to, head->begin_us, 8);
  writer_put_unsigned(to, head->end_us, 8);
  writer_put_unsigned(to, 0, 4);
  writer_put_unsigned(to, writer->version, 2);
  writer_put_unsigned(to, writer->pid, 8);
  if (domains) writer_put_unsigned(to, head->domain, 2);
  writer_put_unsigned(to, head->verify_slot, 2);
  writer_put_unsigned(to, head->verify_next, 2);
  writer_put_unsigned(to, head->verify_code, 8);
  writer_put_unsigned(to, head->first_block, 8);
  writer_put_unsigned(to, head->end_block, 8);
  writer_put(to, events->bytes, events->count);
  to->failed |= events->failed;
}

static void writer_put_run(struct memtrace_writer *writer, const struct writer_run *run) {
  struct writer_bytes events = {.count = 0};
  struct head head = {
      .begin_us = run->begin_us, .end_us = run->begin_us, .domain = run->domain, .verify_slot = UNVERIFIED};
  writer_put_head(&events, run->begin_us, EVENT_RUN);
  writer_put(&events, &run->rate, 8);
  writer_put_unsigned(&events, run->word_bits, 1);
  writer_put_text(&events, run->executable);
  writer_put_text(&events, run->host);
  writer_put_text(&events, run->parameters);
  writer_put_unsigned(&events, run->pid, 8);
  if (writer->version > 1) writer_put_text(&events, run->context);
  put_packet(writer, &head, &events);
  free(events.bytes);
}

static void put_locations(struct memtrace_writer *writer, struct writer_domain *domain) {
  struct head head = {.begin_us = domain->begin_us,
                      .end_us = domain->begin_us,
                      .first_block = domain->first_block,
                      .end_block = domain->first_block,
                      .domain = domain->id,
                      .verify_slot = UNVERIFIED};
  struct writer_bytes events = {.count = 0};
  for (size_t at = 0; at < domain->queued;) {
    events.count = 0;
    while (at < domain->queued && !events.failed &&
           writer_header_bytes(writer) + events.count < WRITER_PACKET - LOCATIONS) {
      writer_put_head(&events, domain->begin_us, EVENT_LOCATION);
      writer_put_location(writer, domain, &events, domain->queue[at++]);
    }
    put_packet(writer, &head, &events);
    if (events.failed) break;
  }
  free(events.bytes);
  domain->queued = 0;
}

static void writer_take_chunk(struct memtrace_writer *writer, struct writer_domain *domain) {
  if (writer->version < 3) {
    domain->chunk_end = UINT64_MAX;
    return;
  }
  domain->next_block = writer->next_chunk;
  domain->chunk_end = writer->next_chunk += CHUNK;
}

static void open_packet(struct writer_domain *domain, uint64_t time_us) {
  domain->packet.count = 0;
  domain->begin_us = domain->last_us = time_us;
  domain->first_block = domain->next_block;
  domain->verify_slot = (uint16_t)domain->verify;
  domain->verify_next = domain->next[domain->verify];
  domain->verify_code = domain->code[domain->verify];
  domain->verify = (domain->verify + VERIFY_STEP) % WRITER_SLOTS;
}

/* ---- events ---- */

static void writer_prepare(struct memtrace_writer *writer, struct writer_domain *domain, uint64_t time_us) {
  bool late = time_us > domain->begin_us && time_us - domain->begin_us > LATE_US;
  if (writer_header_bytes(writer) + domain->packet.count + ROOM > WRITER_PACKET ||
      domain->queued > QUEUE_MOST || late || domain->next_block == domain->chunk_end)
    writer_flush(writer, domain, time_us);
  domain->last_us = time_us;
}

/* The block may be another domain's. */
static void put_change(struct memtrace_writer *writer, struct writer_domain *domain, uint64_t time_us,
                       uint64_t block, enum event event) {
  writer_prepare(writer, domain, time_us);
  writer_put_head(&domain->packet, time_us, event);
  put_variable(&domain->packet, (int64_t)(domain->next_block - 1 - block));
}

static void keep_stack(struct writer_domain *domain, const uint64_t *codes, size_t depth) {
  bool room = array_reserve(&domain->stack, &domain->stack_capacity, depth, sizeof *domain->stack);
  domain->packet.failed |= !room;
  if (!room) return;
  if (depth) memcpy(domain->stack, codes, depth * sizeof *codes);
  domain->depth = depth;
}

/* ---- shared ---- */

void memtrace_writer_begin(struct memtrace_writer *writer, unsigned version, const struct writer_run *run,
                           writer_places *places, void *context) {
  *writer =
      (struct memtrace_writer){.version = version, .pid = run->pid, .places = places, .context = context};
  writer_put_run(writer, run);
}

void memtrace_writer_end(struct memtrace_writer *writer) { free(writer->file.bytes); }

struct writer_domain *writer_domain_begin(struct memtrace_writer *writer, unsigned id, uint64_t begin_us) {
  struct writer_domain *domain = calloc(1, sizeof *domain);
  if (!domain) return NULL;
  domain->id = id;
  writer_take_chunk(writer, domain);
  open_packet(domain, begin_us);
  domain->verify_slot = UNVERIFIED;
  domain->verify = VERIFY_FIRST;
  return domain;
}

void writer_domain_end(struct memtrace_writer *writer, struct writer_domain *domain) {
  writer_flush(writer, domain, domain->last_us);
  writer_lists_destroy(domain);
  free(domain->stack);
  free(domain->packet.bytes);
  free(domain->codewords.bytes);
  free(domain);
}

uint64_t writer_allocate(struct memtrace_writer *writer, struct writer_domain *domain, uint64_t time_us,
                         int64_t length, int64_t samples, enum writer_source source, const uint64_t *codes,
                         size_t depth) {
  size_t common = writer_common(domain, codes, depth);
  writer_prepare(writer, domain, time_us);
  unsigned words = writer_code_stack(domain, codes, depth, common);
  struct writer_bytes *to = &domain->packet;
  bool usual = length >= 1 && length <= 16 && samples == 1 && source == WRITER_MINOR && depth - common < 256;
  writer_put_head(to, time_us, usual ? EVENT_SHORT + (unsigned)length : EVENT_ALLOCATION);
  if (!usual) {
    put_variable(to, length);
    put_variable(to, samples);
    writer_put_unsigned(to, source, 1);
  }
  put_variable(to, (int64_t)common);
  writer_put_unsigned(to, words, usual ? 1 : 2);
  writer_put(to, domain->codewords.bytes, domain->codewords.count);
  to->failed |= domain->codewords.failed;
  keep_stack(domain, codes, depth);
  return domain->next_block++;
}

void writer_promote(struct memtrace_writer *writer, struct writer_domain *domain, uint64_t time_us,
                    uint64_t block) {
  put_change(writer, domain, time_us, block, EVENT_PROMOTION);
}

void writer_collect(struct memtrace_writer *writer, struct writer_domain *domain, uint64_t time_us,
                    uint64_t block) {
  put_change(writer, domain, time_us, block, EVENT_COLLECTION);
}

void writer_flush(struct memtrace_writer *writer, struct writer_domain *domain, uint64_t time_us) {
  put_locations(writer, domain);
  struct head head = {domain->begin_us, domain->last_us,     domain->first_block, domain->next_block,
                      domain->id,       domain->verify_slot, domain->verify_next, domain->verify_code};
  put_packet(writer, &head, &domain->packet);
  if (domain->next_block == domain->chunk_end) writer_take_chunk(writer, domain);
  open_packet(domain, time_us);
}
/* SPDX-License-Identifier: MIT */
