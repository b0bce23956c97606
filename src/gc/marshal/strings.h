/* OCaml's layout of strings in raw blocks (winnow/marshal.h). */
#ifndef GC_MARSHAL_STRINGS_H
#define GC_MARSHAL_STRINGS_H

#include <stddef.h>
#include <stdint.h>
#include <winnow/value.h>

static inline size_t string_words(size_t length) { return length / 8 + 1; }

/* Writes what follows the text in the last word. */
static inline void string_end(void *bytes, size_t length) {
  uint8_t *last = (uint8_t *)bytes + length / 8 * 8;
  for (size_t i = length % 8; i < 7; i++) last[i] = 0;
  last[7] = (uint8_t)(7 - length % 8);
}

/* SIZE_MAX if a raw block of so many words, at least one, is no string. */
static inline size_t string_length(const void *bytes, size_t words) {
  uint8_t rest = ((const uint8_t *)bytes)[8 * words - 1];
  return rest < 8 ? 8 * words - 1 - rest : SIZE_MAX;
}

#endif
/* SPDX-License-Identifier: MIT */
