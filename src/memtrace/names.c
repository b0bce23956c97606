/* The lists, and the table of codes. */
#include "memtrace/names.h"

#include "base/array.h"
#include "base/hash.h"
#include <stdlib.h>

enum { NEW_NAME = MEMTRACE_NAMES, FIRST_SLOTS = 1024, LOCATIONS_OF_CODE = 255, TEXTS_MOST = 1 << 30 };

/* ---- growing ---- */

static bool reserve_text(struct memtrace_names *names, size_t bytes) {
  size_t wanted = names->text_bytes + bytes;
  return wanted <= UINT32_MAX && array_reserve(&names->texts, &names->text_capacity, wanted, 1);
}

/* Keeps a text; the number of it, or 0 without memory. */
static uint32_t names_keep_text(struct memtrace_names *names, const char *text) {
  size_t bytes = strlen(text) + 1;
  uint32_t start = (uint32_t)names->text_bytes;
  if (names->text_count >= TEXTS_MOST || !reserve_text(names, bytes) ||
      !ARRAY_ADD(names->text_starts, names->text_count, names->text_start_capacity, start))
    return 0;
  memcpy(names->texts + start, text, bytes);
  names->text_bytes += bytes;
  return names->text_count - 1;
}

static bool reserve_locations(struct memtrace_names *names, uint32_t count) {
  size_t wanted = (size_t)names->location_count + count;
  return wanted <= TEXTS_MOST &&
         array_reserve(&names->locations, &names->location_capacity, wanted, sizeof *names->locations);
}

/* ---- codes ---- */

/* The slot of a code, or the empty one where it would be. */
static struct memtrace_code *find_names(struct memtrace_code *codes, size_t slots, uint64_t code) {
  size_t i = hash_mix(code) & (slots - 1);
  while (codes[i].used && codes[i].code != code) i = (i + 1) & (slots - 1);
  return &codes[i];
}

static bool double_codes(struct memtrace_names *names) {
  size_t slots = 2 * names->slots;
  struct memtrace_code *codes = calloc(slots, sizeof *codes);
  if (!codes) return false;
  for (size_t i = 0; i < names->slots; i++)
    if (names->codes[i].used) *find_names(codes, slots, names->codes[i].code) = names->codes[i];
  free(names->codes);
  names->codes = codes;
  names->slots = slots;
  return true;
}

/* A code that comes again has the same locations, so it is only of use if some names were unknown. */
static bool is_wanted(const struct memtrace_code *found, bool known) {
  return !found->used || (known && !found->known);
}

/* Enters a code, whose locations are the last ones, or drops these if it has better ones. */
static bool names_enter(struct memtrace_names *names, uint64_t code, uint32_t first, bool known) {
  if (2 * (size_t)names->code_count >= names->slots && !double_codes(names)) return false;
  struct memtrace_code *found = find_names(names->codes, names->slots, code);
  uint16_t count = (uint16_t)(names->location_count - first);
  if (is_wanted(found, known)) {
    names->code_count += !found->used;
    *found = (struct memtrace_code){code, first, count, true, known};
  } else {
    names->location_count = first;
  }
  return true;
}

/* ---- lists ---- */

static void lose_functions(struct memtrace_file *file) {
  memset(file, 0, sizeof *file);
  file->function_count = MEMTRACE_NAMES;
}

/* Moves the file at `index` to the front, or a new one without functions. False for an index behind the
 * end. */
static bool front_file(struct memtrace_lists *lists, uint32_t index) {
  struct memtrace_file front = {0};
  if (index == NEW_NAME) {
    bool full = lists->file_count == MEMTRACE_NAMES;
    index = full ? MEMTRACE_NAMES - 1 : lists->file_count++;
    if (full) front = lists->files[index];
  } else if (index < lists->file_count) {
    front = lists->files[index];
  } else {
    return false;
  }
  memmove(lists->files + 1, lists->files, index * sizeof front);
  lists->files[0] = front;
  return true;
}

static bool front_function(struct memtrace_file *file, uint32_t index, uint32_t name) {
  if (index == NEW_NAME) {
    if (file->function_count < MEMTRACE_NAMES) file->function_count++;
    index = file->function_count - 1;
  } else if (index < file->function_count) {
    name = file->functions[index];
  } else {
    return false;
  }
  memmove(file->functions + 1, file->functions, index * sizeof name);
  file->functions[0] = name;
  return true;
}

/* ---- locations ---- */

/* The text at hand, or "" with `bad` set. */
static const char *next_text(struct memtrace_bytes *bytes) {
  const unsigned char *begin = bytes->at, *end = memchr(begin, 0, memtrace_left(bytes));
  if (!end) return memtrace_fail(bytes), "";
  bytes->at = end + 1;
  return (const char *)begin;
}

/* Reads a new name, if the code says that there is one. */
static enum memtrace_reading new_name(struct memtrace_names *names, struct memtrace_bytes *bytes,
                                      uint32_t code, uint32_t *name) {
  *name = 0;
  if (code != NEW_NAME) return MEMTRACE_READ;
  const char *text = next_text(bytes);
  if (bytes->bad) return MEMTRACE_DAMAGED;
  *name = names_keep_text(names, text);
  return *name ? MEMTRACE_READ : MEMTRACE_NO_MEMORY;
}

static enum memtrace_reading read_position(struct memtrace_names *names, struct memtrace_lists *lists,
                                           struct memtrace_bytes *bytes, struct memtrace_location *location) {
  uint64_t bits = memtrace_unsigned(bytes, 4);
  bits |= memtrace_unsigned(bytes, 2) << 32;
  uint32_t file = bits >> 38 & 31, function = bits >> 43 & 31, name;
  *location = (struct memtrace_location){.line = bits & MEMTRACE_LINE_MOST,
                                         .start = bits >> 20 & MEMTRACE_START_MOST,
                                         .end = bits >> 28 & MEMTRACE_END_MOST};
  enum memtrace_reading reading = bytes->bad ? MEMTRACE_DAMAGED : new_name(names, bytes, file, &name);
  if (reading != MEMTRACE_READ) return reading;
  if (!front_file(lists, file)) return MEMTRACE_DAMAGED;
  struct memtrace_file *front = &lists->files[0];
  if (file == NEW_NAME) front->name = name;
  reading = new_name(names, bytes, function, &name);
  if (reading != MEMTRACE_READ) return reading;
  if (!front_function(front, function, name)) return MEMTRACE_DAMAGED;
  location->file = front->name;
  location->function = front->functions[0];
  return MEMTRACE_READ;
}

/* ---- shared ---- */

bool memtrace_names_create(struct memtrace_names *names) {
  *names = (struct memtrace_names){.slots = FIRST_SLOTS};
  names->codes = calloc(FIRST_SLOTS, sizeof *names->codes);
  if (!names->codes) return false;
  names_keep_text(names, ""); /* has the number 0, as a failure has */
  return names->text_count;
}

void memtrace_names_destroy(struct memtrace_names *names) {
  free(names->texts);
  free(names->text_starts);
  free(names->locations);
  free(names->codes);
}

void memtrace_lists_lose(struct memtrace_lists *lists) {
  for (uint32_t i = 0; i < MEMTRACE_NAMES; i++) lose_functions(&lists->files[i]);
  lists->file_count = MEMTRACE_NAMES;
}

enum memtrace_reading memtrace_location_read(struct memtrace_names *names, struct memtrace_lists *lists,
                                             struct memtrace_bytes *bytes) {
  uint64_t code = memtrace_unsigned(bytes, 8);
  uint32_t count = (uint32_t)memtrace_unsigned(bytes, 1), first = names->location_count;
  bool known = true;
  code = (uint64_t)((int64_t)(code << 1) >> 1);
  if (!reserve_locations(names, LOCATIONS_OF_CODE)) return MEMTRACE_NO_MEMORY;
  for (uint32_t i = 0; i < count; i++) {
    struct memtrace_location location;
    enum memtrace_reading reading = read_position(names, lists, bytes, &location);
    if (reading != MEMTRACE_READ) return names->location_count = first, reading;
    known = known && location.file && location.function;
    names->locations[names->location_count++] = location;
  }
  if (bytes->bad) return MEMTRACE_DAMAGED;
  return names_enter(names, code, first, known) ? MEMTRACE_READ : MEMTRACE_NO_MEMORY;
}

struct memtrace_locations memtrace_locations_of(const struct memtrace_names *names, uint64_t code) {
  const struct memtrace_code *found = find_names(names->codes, names->slots, code);
  return found->used
             ? (struct memtrace_locations){names->locations + found->first, found->first, found->count}
             : (struct memtrace_locations){0};
}
/* SPDX-License-Identifier: MIT */
