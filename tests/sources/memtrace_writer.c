/* Codes stacks and names as the format says: docs of the reader, src/sources/memtrace_*.h. */
#include "sources/memtrace_writer.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 4196, LOCATIONS = 4096, QUEUE_MOST = 128, CHUNK = 10000, STACK_BYTES = 4096 };

/* ---- bytes ---- */

static void put(struct writer_bytes *to, const void *bytes, size_t count) {
  if (to->count + count > to->capacity) {
    to->capacity = 2 * (to->count + count);
    to->bytes = realloc(to->bytes, to->capacity);
    assert(to->bytes);
  }
  if (count) memcpy(to->bytes + to->count, bytes, count);
  to->count += count;
}

static void put_unsigned(struct writer_bytes *to, uint64_t value, size_t count) { put(to, &value, count); }

static void put_variable(struct writer_bytes *to, int64_t value) {
  if (value >= 0 && value <= 252) {
    put_unsigned(to, (uint64_t)value, 1);
  } else if (value >= 0 && value <= UINT16_MAX) {
    put_unsigned(to, 253, 1), put_unsigned(to, (uint64_t)value, 2);
  } else if (value >= INT32_MIN && value <= INT32_MAX) {
    put_unsigned(to, 254, 1), put_unsigned(to, (uint64_t)value, 4);
  } else {
    put_unsigned(to, 255, 1), put_unsigned(to, (uint64_t)value, 8);
  }
}

static void put_text(struct writer_bytes *to, const char *text) { put(to, text, strlen(text) + 1); }

/* ---- packets ---- */

struct head {
  uint64_t begin_us, end_us, first_block, end_block;
  unsigned domain;
  uint16_t verify_slot, verify_next;
  uint64_t verify_code;
};

static void put_packet(struct memtrace_writer *writer, const struct head *head,
                       const struct writer_bytes *events) {
  struct writer_bytes *to = &writer->file;
  size_t header = writer->version < 3 ? 66 : 68;
  put_unsigned(to, 0xc1fc1fc1, 4);
  put_unsigned(to, (header + events->count) * 8, 4);
  put_unsigned(to, head->begin_us, 8);
  put_unsigned(to, head->end_us, 8);
  put_unsigned(to, 0, 4);
  put_unsigned(to, writer->version, 2);
  put_unsigned(to, writer->pid, 8);
  if (writer->version >= 3) put_unsigned(to, head->domain, 2);
  put_unsigned(to, head->verify_slot, 2);
  put_unsigned(to, head->verify_next, 2);
  put_unsigned(to, head->verify_code, 8);
  put_unsigned(to, head->first_block, 8);
  put_unsigned(to, head->end_block, 8);
  put(to, events->bytes, events->count);
}

static void put_event(struct writer_bytes *to, uint64_t time_us, unsigned id) {
  put_unsigned(to, (time_us & 0x1ffffff) | (uint64_t)id << 25, 4);
}

/* ---- names ---- */

size_t memtrace_writer_places(uint64_t code, struct writer_place places[WRITER_PLACES_MOST]) {
  size_t count = code == 1 ? 0 : code == 2 ? WRITER_PLACES_MOST : 1 + code % 3;
  for (size_t i = 0; i < count; i++) {
    struct writer_place *place = &places[i];
    snprintf(place->file, sizeof place->file, "f%u.ml", (unsigned)((code + i) % 47));
    snprintf(place->function, sizeof place->function, "M.g%u", (unsigned)((code / 3 + i) % 211));
    place->line = (int)(code % 5000) + 1;
    place->start = (int)(code % 300);
    place->end = (int)(code % 1200);
  }
  return count;
}

/* The code of a name in a list, which moves it to the front; `full` is the index that is taken by a new
 * one. */
static unsigned front(struct writer_list *list, const char *name, size_t *index) {
  size_t at = 0;
  while (at < list->count && strcmp(list->names[at], name) != 0) at++;
  bool found = at < list->count;
  if (!found) at = list->count < WRITER_NAMES ? list->count++ : WRITER_NAMES - 1;
  memmove(list->names + 1, list->names, at * sizeof list->names[0]);
  snprintf(list->names[0], sizeof list->names[0], "%s", name);
  *index = at;
  return found ? (unsigned)at : WRITER_NAMES;
}

static uint64_t limited(int value, int most) { return (uint64_t)(value < 0 || value > most ? most : value); }

static void put_place(struct writer_domain *domain, struct writer_bytes *to,
                      const struct writer_place *place) {
  size_t at, ignored;
  unsigned file = front(&domain->files, place->file, &at);
  struct writer_list functions = {.count = 0};
  if (file != WRITER_NAMES) functions = domain->functions[at];
  memmove(domain->functions + 1, domain->functions, at * sizeof functions);
  unsigned function = front(&functions, place->function, &ignored);
  domain->functions[0] = functions;
  uint64_t bits = limited(place->line, 0xfffff) | limited(place->start, 0xff) << 20 |
                  limited(place->end, 0x3ff) << 28 | (uint64_t)file << 38 | (uint64_t)function << 43;
  put_unsigned(to, bits, 6);
  if (file == WRITER_NAMES) put_text(to, place->file);
  if (function == WRITER_NAMES) put_text(to, place->function);
}

static void put_location(struct writer_domain *domain, struct writer_bytes *to, uint64_t code) {
  static struct writer_place places[WRITER_PLACES_MOST];
  size_t count = memtrace_writer_places(code, places);
  if (count > 255) {
    places[0] = (struct writer_place){"<unknown>", "??", 1, 1, 1};
    count = 1;
  }
  put_event(to, domain->begin_us, 1);
  put_unsigned(to, code, 8);
  put_unsigned(to, count, 1);
  for (size_t i = 0; i < count; i++) put_place(domain, to, &places[i]);
}

static void put_locations(struct memtrace_writer *writer, struct writer_domain *domain) {
  size_t at = 0;
  while (at < domain->queued) {
    struct writer_bytes events = {.count = 0};
    while (at < domain->queued && events.count < WRITER_PACKET - LOCATIONS - 68)
      put_location(domain, &events, domain->queue[at++]);
    struct head head = {.begin_us = domain->begin_us,
                        .end_us = domain->begin_us,
                        .first_block = domain->first_block,
                        .end_block = domain->first_block,
                        .domain = domain->id,
                        .verify_slot = 0xffff};
    put_packet(writer, &head, &events);
    free(events.bytes);
  }
  domain->queued = 0;
}

/* ---- events ---- */

static void take_chunk(struct memtrace_writer *writer, struct writer_domain *domain) {
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
  domain->verify = (domain->verify + 5413) % WRITER_SLOTS;
}

static void prepare(struct memtrace_writer *writer, struct writer_domain *domain, uint64_t time_us) {
  bool late = time_us > domain->begin_us && time_us - domain->begin_us > 30000000;
  if (domain->packet.count + ROOM + 68 > WRITER_PACKET || domain->queued > QUEUE_MOST || late ||
      domain->next_block == domain->chunk_end)
    writer_flush(writer, domain, time_us);
  domain->last_us = time_us;
}

/* A change of a block that was allocated by any domain. */
static void put_change(struct memtrace_writer *writer, struct writer_domain *domain, uint64_t time_us,
                       uint64_t block, unsigned id) {
  prepare(writer, domain, time_us);
  put_event(&domain->packet, time_us, id);
  put_variable(&domain->packet, (int64_t)(domain->next_block - 1 - block));
}

/* ---- stacks ---- */

static size_t common_of(const struct writer_domain *domain, const uint64_t *codes, size_t depth) {
  size_t common = 0;
  while (common < domain->depth && common < depth && domain->stack[common] == codes[common]) common++;
  return common;
}

static void put_codeword(struct writer_bytes *to, unsigned slot, unsigned predicted) {
  unsigned tag = predicted < 2 ? predicted : 2;
  put_unsigned(to, slot << 2 | tag, 2);
  if (tag == 2) put_unsigned(to, predicted, 1);
}

/* The slot of a code; false: it had to be given the code. */
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

/* Codes the frames behind the common ones; the number of codewords. */
static unsigned put_stack(struct writer_domain *domain, struct writer_bytes *to, const uint64_t *codes,
                          size_t depth, size_t at) {
  unsigned last = 0, words = 0;
  while (at < depth && to->count <= STACK_BYTES - 10) {
    unsigned slot, first, predicted = 0;
    bool hit = find_slot(domain, codes[at], &slot);
    domain->next[last] = (uint16_t)slot;
    last = first = slot;
    words++;
    if (!hit) {
      assert(domain->queued < sizeof domain->queue / sizeof domain->queue[0]);
      domain->queue[domain->queued++] = codes[at++];
      put_unsigned(to, slot << 2 | 3, 2);
      put_unsigned(to, domain->code[slot], 8);
      continue;
    }
    for (at++; at < depth && to->count + 2 <= STACK_BYTES - 10; at++) {
      unsigned next = domain->next[last];
      if (domain->code[next] != codes[at]) break;
      if (predicted == 255) {
        put_codeword(to, first, 255);
        domain->date[next] = domain->next_block;
        first = next;
        predicted = 0;
        words++;
      } else {
        predicted++;
      }
      last = next;
    }
    put_codeword(to, first, predicted);
  }
  return words;
}

static void keep_stack(struct writer_domain *domain, const uint64_t *codes, size_t depth) {
  domain->stack = realloc(domain->stack, (depth + 1) * sizeof *codes);
  assert(domain->stack);
  memcpy(domain->stack, codes, depth * sizeof *codes);
  domain->depth = depth;
}

/* ---- shared ---- */

void memtrace_writer_begin(struct memtrace_writer *writer, unsigned version, double rate, uint64_t begin_us) {
  struct writer_bytes info = {.count = 0};
  *writer = (struct memtrace_writer){.version = version, .begin_us = begin_us, .pid = 4321};
  put_event(&info, begin_us, 0);
  put(&info, &rate, 8);
  put_unsigned(&info, 64, 1);
  put_text(&info, "/opt/app/main.exe");
  put_text(&info, "somewhere");
  put_text(&info, "s=4096,o=80");
  put_unsigned(&info, writer->pid, 8);
  if (version > 1) put_text(&info, "a test");
  put_packet(writer, &(struct head){.begin_us = begin_us, .end_us = begin_us, .verify_slot = 0xffff}, &info);
  free(info.bytes);
}

void memtrace_writer_end(struct memtrace_writer *writer) { free(writer->file.bytes); }

struct writer_domain *writer_domain_begin(struct memtrace_writer *writer, unsigned id, uint64_t begin_us) {
  struct writer_domain *domain = calloc(1, sizeof *domain);
  assert(domain);
  domain->id = id;
  domain->verify = 4242;
  take_chunk(writer, domain);
  open_packet(domain, begin_us);
  domain->verify_slot = 0xffff;
  return domain;
}

void writer_domain_end(struct memtrace_writer *writer, struct writer_domain *domain) {
  writer_flush(writer, domain, domain->last_us);
  free(domain->stack);
  free(domain->packet.bytes);
  free(domain);
}

uint64_t writer_allocate(struct memtrace_writer *writer, struct writer_domain *domain, uint64_t time_us,
                         int64_t length, int64_t samples, enum writer_source source, const uint64_t *codes,
                         size_t depth) {
  struct writer_bytes stack = {.count = 0};
  size_t common = common_of(domain, codes, depth);
  prepare(writer, domain, time_us);
  unsigned words = put_stack(domain, &stack, codes, depth, common);
  struct writer_bytes *to = &domain->packet;
  bool usual = length >= 1 && length <= 16 && samples == 1 && source == WRITER_MINOR && depth - common < 256;
  put_event(to, time_us, usual ? 100 + (unsigned)length : 2);
  if (!usual) {
    put_variable(to, length);
    put_variable(to, samples);
    put_unsigned(to, source, 1);
  }
  put_variable(to, (int64_t)common);
  put_unsigned(to, words, usual ? 1 : 2);
  put(to, stack.bytes, stack.count);
  free(stack.bytes);
  keep_stack(domain, codes, depth);
  return domain->next_block++;
}

void writer_promote(struct memtrace_writer *writer, struct writer_domain *domain, uint64_t time_us,
                    uint64_t block) {
  put_change(writer, domain, time_us, block, 3);
}

void writer_collect(struct memtrace_writer *writer, struct writer_domain *domain, uint64_t time_us,
                    uint64_t block) {
  put_change(writer, domain, time_us, block, 4);
}

void writer_flush(struct memtrace_writer *writer, struct writer_domain *domain, uint64_t time_us) {
  put_locations(writer, domain);
  struct head head = {domain->begin_us, domain->last_us,     domain->first_block, domain->next_block,
                      domain->id,       domain->verify_slot, domain->verify_next, domain->verify_code};
  put_packet(writer, &head, &domain->packet);
  if (domain->next_block == domain->chunk_end) take_chunk(writer, domain);
  open_packet(domain, time_us);
}
/* SPDX-License-Identifier: MIT */
