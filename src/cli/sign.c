/* The signs of a text. */
#include "cli/sign.h"

#include "base/utf8.h"
#include <stdint.h>
#include <wchar.h>

/* Where the locale is not UTF-8, each is written as one letter (ascii.c). */
static size_t columns_of(uint32_t code) {
  int columns = code < 0x80 ? 1 : wcwidth((wchar_t)code);
  return columns < 0 ? 1 : (size_t)columns;
}

/* ---- shared ---- */

struct sign sign_at(const char *text, size_t length) {
  uint32_t code;
  size_t bytes = utf8_decode(text, length, &code);
  if (!bytes) return (struct sign){.bytes = 1, .columns = 1};
  if (utf8_is_obeyed(code)) return (struct sign){.bytes = bytes, .columns = 1};
  return (struct sign){.bytes = bytes, .columns = columns_of(code), .shown = true};
}
/* SPDX-License-Identifier: MIT */
