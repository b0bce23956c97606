/* Compact strings have their characters behind the object, of 1, 2 or 4 bytes each. */
#include "languages/python_text.h"

#include <string.h>

enum { LENGTH_AT = 16, CHARACTER_MOST = 4 /* bytes of UTF-8 */ };

/* The state of a str has 2 bits of how it is interned, then 3 of its kind, which is not 0, compact and
 * ascii. In some builds of 3.14 the first part has 16 bits, of which 2 are used. */
enum { KIND_AND_FLAGS = 0x7c };

static uint32_t python_text_character_at(const char *data, size_t at, unsigned kind) {
  uint32_t character = 0;
  memcpy(&character, data + at * kind, kind);
  return character;
}

static size_t python_text_encode(uint32_t character, char *to) {
  size_t more = character < 0x80 ? 0 : character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
  static const uint8_t leads[] = {0, 0xc0, 0xe0, 0xf0};
  to[0] = (char)(leads[more] | character >> 6 * more);
  for (size_t i = 1; i <= more; i++) to[i] = (char)(0x80 | (character >> 6 * (more - i) & 63));
  return more + 1;
}

/* ---- shared ---- */

const char *python_text(const struct python_layout *layout, const void *str, char *buffer) {
  const char *object = str;
  uint32_t state;
  uint64_t length;
  memcpy(&state, object + PYTHON_TEXT_STATE, sizeof state);
  memcpy(&length, object + LENGTH_AT, sizeof length);
  unsigned flags = state & KIND_AND_FLAGS ? state : state >> 14, kind = flags >> 2 & 7;
  bool compact = flags >> 5 & 1, ascii = flags >> 6 & 1;
  if (!compact || (kind != 1 && kind != 2 && kind != 4)) return NULL;
  if (ascii) return object + layout->ascii_text;
  if (!buffer) return NULL;
  size_t used = 0;
  for (size_t i = 0; i < length && used + CHARACTER_MOST < PYTHON_TEXT_BYTES; i++)
    used += python_text_encode(python_text_character_at(object + layout->other_text, i, kind), buffer + used);
  buffer[used] = 0;
  return buffer;
}
/* SPDX-License-Identifier: MIT */
