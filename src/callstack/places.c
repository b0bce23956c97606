/* The table of places. */
#include "callstack/places.h"

#include "base/check.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/metadata.h"
#include "callstack/capture.h"
#include <string.h>

enum { CHUNK_FIRST = TINY ? 2 : 64, PLACE_SLOTS = TINY ? 8 : 1024 };

/* ---- records ---- */

static unsigned places_chunk_of(uint32_t index) {
  return 31u - (unsigned)__builtin_clz(index / CHUNK_FIRST + 1);
}
static size_t places_chunk_bytes(unsigned chunk) {
  return ((size_t)CHUNK_FIRST << chunk) * sizeof(struct place);
}

/* The record at an index from 0 on, whose chunk is mapped. */
static struct place *places_record_at(const struct places *places, uint32_t index) {
  unsigned chunk = places_chunk_of(index);
  struct place *records = atomic_load_explicit(&places->chunk[chunk], memory_order_acquire);
  return &records[index - (((uint32_t)1 << chunk) - 1) * CHUNK_FIRST];
}

static bool make_chunk(struct places *places, uint32_t index) {
  unsigned chunk = places_chunk_of(index);
  if (chunk >= PLACES_CHUNKS) return false;
  if (atomic_load_explicit(&places->chunk[chunk], memory_order_relaxed)) return true;
  struct place *records = metadata_map(places_chunk_bytes(chunk));
  atomic_store_explicit(&places->chunk[chunk], records, memory_order_release);
  return records != NULL;
}

/* ---- slots: the lock is held ---- */

static uint32_t *places_slot_of(const struct places *places, const struct place *wanted) {
  uint32_t at = (uint32_t)wanted->hash & (places->slot_count - 1);
  for (; places->slots[at]; at = (at + 1) & (places->slot_count - 1)) {
    const struct place *place = places_record_at(places, places->slots[at] - 1);
    if (place->hash == wanted->hash && place->line == wanted->line &&
        place->first_column == wanted->first_column && place->last_column == wanted->last_column &&
        place->address == wanted->address && place->since_ns == wanted->since_ns &&
        !strcmp(place->function, wanted->function) && !strcmp(place->file, wanted->file))
      break;
  }
  return &places->slots[at];
}

/* Makes the table of slots larger, so that at most half of the slots are in use. */
static bool make_slots(struct places *places) {
  uint32_t used = atomic_load_explicit(&places->count, memory_order_relaxed), count = places->slot_count;
  if (used < count / 2) return true;
  struct places larger = {.slot_count = count ? 2 * count : PLACE_SLOTS};
  larger.slots = metadata_map(larger.slot_count * sizeof *larger.slots);
  if (!larger.slots) return false;
  for (uint32_t number = 1; number <= used; number++) {
    uint32_t at = (uint32_t)places_record_at(places, number - 1)->hash & (larger.slot_count - 1);
    while (larger.slots[at]) at = (at + 1) & (larger.slot_count - 1);
    larger.slots[at] = number;
  }
  metadata_unmap(places->slots, count * sizeof *places->slots);
  places->slots = larger.slots;
  places->slot_count = larger.slot_count;
  return true;
}

/* ---- entering: the lock is held ---- */

static uint32_t places_module_of(struct places *places) {
  uint32_t module = atomic_load_explicit(&places->module, memory_order_relaxed);
  if (module) return module;
  module = modules_add_language(places->modules, places->language);
  atomic_store_explicit(&places->module, module, memory_order_release);
  return module;
}

/* Copies a file's name, unless the last place has the same one: programs usually enter a file's
 * places one after another, and so most names are kept once. */
static const char *copy_file(struct places *places, const char *file) {
  uint32_t count = atomic_load_explicit(&places->count, memory_order_relaxed);
  const char *last = count ? places_record_at(places, count - 1)->file : NULL;
  return last && !strcmp(last, file) ? last : texts_copy(&places->texts, file, strlen(file));
}

/* Adds a place, and stores its number in `slot`. */
static bool places_append(struct places *places, const struct place *wanted, uint32_t *slot) {
  uint32_t count = atomic_load_explicit(&places->count, memory_order_relaxed);
  if (count == PLACES_MOST || !make_chunk(places, count)) return false;
  struct place made = *wanted;
  if (!places_module_of(places)) return false;
  made.function = texts_copy(&places->texts, wanted->function, strlen(wanted->function));
  made.file = copy_file(places, wanted->file);
  if (!made.function || !made.file) return false;
  *places_record_at(places, count) = made;
  *slot = count + 1;
  atomic_store_explicit(&places->count, count + 1, memory_order_release);
  return true;
}

static wn_place enter_places(struct places *places, const struct place *wanted) {
  if (!make_slots(places)) return 0;
  uint32_t *slot = places_slot_of(places, wanted);
  return *slot || places_append(places, wanted, slot) ? *slot : 0;
}

/* The beginning of a text, cut where a character of UTF-8 begins. */
static const char *places_cut(char buffer[PLACE_TEXT_MOST + 1], const char *text) {
  if (!text) return "";
  size_t length = strnlen(text, PLACE_TEXT_MOST + 1);
  if (length <= PLACE_TEXT_MOST) return text;
  for (length--; length && ((unsigned char)text[length] & 0xc0) == 0x80; length--)
    ;
  memcpy(buffer, text, length);
  buffer[length] = 0;
  return buffer;
}

static uint64_t places_hash_of(const struct place *place) {
  uint64_t where = hash_combine((uint64_t)place->first_column << 32 | place->last_column, place->line);
  uint64_t hash = hash_combine(where, hash_bytes(place->function, strlen(place->function)));
  if (place->address) hash = hash_combine(hash_combine(hash, place->address), place->since_ns);
  return hash_combine(hash, hash_bytes(place->file, strlen(place->file)));
}

/* ---- shared ---- */

void places_create(struct places *places, struct modules *modules, const char *language) {
  places->modules = modules;
  places->language = language;
}

void places_destroy(struct places *places) {
  for (unsigned chunk = 0; chunk < PLACES_CHUNKS; chunk++)
    metadata_unmap(atomic_load(&places->chunk[chunk]), places_chunk_bytes(chunk));
  metadata_unmap(places->slots, places->slot_count * sizeof *places->slots);
  texts_destroy(&places->texts);
}

static bool is_long(const char *text) { return text && strnlen(text, PLACE_TEXT_MOST + 1) > PLACE_TEXT_MOST; }

/* A function of its own, since the buffers take two kilobytes of the stack. */
static __attribute__((noinline)) wn_place enter_cut(struct places *places,
                                                    const struct callstack_place *place) {
  char function[PLACE_TEXT_MOST + 1], file[PLACE_TEXT_MOST + 1];
  struct callstack_place shorter = *place;
  shorter.function = places_cut(function, place->function);
  shorter.file = places_cut(file, place->file);
  return places_enter(places, &shorter);
}

wn_place places_enter(struct places *places, const struct callstack_place *place) {
  if (is_long(place->function) || is_long(place->file)) return enter_cut(places, place);
  struct place wanted = {.function = place->function ? place->function : "",
                         .file = place->file ? place->file : "",
                         .line = place->line,
                         .first_column = place->first_column,
                         .last_column = place->last_column,
                         .address = place->address,
                         .since_ns = place->since_ns};
  wanted.hash = places_hash_of(&wanted);
  lock_acquire(&places->lock, LOCK_RANK_PLACES);
  wn_place number = enter_places(places, &wanted);
  bool full = atomic_load_explicit(&places->count, memory_order_relaxed) == PLACES_MOST;
  lock_release(&places->lock, LOCK_RANK_PLACES);
  if (number) return number;
  if (full)
    error_set(WN_ELIMIT, "place: there are %d places already", PLACES_MOST);
  else
    error_set(WN_ENOMEM, "place: no memory for it");
  return 0;
}

wn_place places_known(const struct places *places, uint64_t key) {
  uint64_t mixed = atomic_load_explicit(&places->keyed[key % PLACES_KEYED].mixed, memory_order_relaxed);
  wn_place number = atomic_load_explicit(&places->keyed[key % PLACES_KEYED].number, memory_order_acquire);
  return (mixed ^ hash_mix(number)) == key ? number : 0;
}

void places_note(struct places *places, uint64_t key, wn_place number) {
  atomic_store_explicit(&places->keyed[key % PLACES_KEYED].mixed, key ^ hash_mix(number),
                        memory_order_relaxed);
  atomic_store_explicit(&places->keyed[key % PLACES_KEYED].number, number, memory_order_release);
}

const struct place *places_get(const struct places *places, uint64_t number) {
  uint32_t count = atomic_load_explicit(&((struct places *)places)->count, memory_order_acquire);
  return number - 1 < count ? places_record_at(places, (uint32_t)number - 1) : NULL;
}
/* SPDX-License-Identifier: MIT */
