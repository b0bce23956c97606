/* Codes stacks and names. */
#include "memtrace/codes.h"

#include "base/array.h"
#include <stdlib.h>
#include <string.h>

enum { CODEWORDS_MOST = 4096, CODEWORD = 10, PREDICTED_MOST = 255 };
enum { LINE_MOST = 0xfffff, START_MOST = 0xff, END_MOST = 0x3ff };

/* ---- bytes ---- */

void writer_put(struct writer_bytes *to, const void *bytes, size_t count) {
  bool room = array_reserve(&to->bytes, &to->capacity, to->count + count, 1);
  to->failed |= !room;
  if (!room) return;
  if (count) memcpy(to->bytes + to->count, bytes, count);
  to->count += count;
}

void writer_put_text(struct writer_bytes *to, const char *text) { writer_put(to, text, strlen(text) + 1); }

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

void writer_lists_destroy(struct writer_domain *domain) {
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

void writer_put_location(struct memtrace_writer *writer, struct writer_domain *domain,
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

size_t writer_common(const struct writer_domain *domain, const uint64_t *codes, size_t depth) {
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

unsigned writer_code_stack(struct writer_domain *domain, const uint64_t *codes, size_t depth, size_t common) {
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
/* SPDX-License-Identifier: MIT */
