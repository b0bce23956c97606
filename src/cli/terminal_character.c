/* Decodes the characters of a text and tells their widths. */
#include "cli/terminal_character.h"

#include "base/utf8.h"
#include <stdint.h>
#include <wchar.h>

/* Where the locale is not UTF-8, wcwidth fails and each character takes one column (ascii.c). */
static size_t terminal_character_columns_of(uint32_t code) {
  int columns = code < 0x80 ? 1 : wcwidth((wchar_t)code);
  return columns < 0 ? 1 : (size_t)columns;
}

/* ---- shared ---- */

struct character character_at(const char *text, size_t length) {
  uint32_t code;
  size_t bytes = utf8_decode(text, length, &code);
  if (!bytes) return (struct character){.bytes = 1, .columns = 1};
  if (utf8_is_obeyed(code)) return (struct character){.bytes = bytes, .columns = 1};
  return (struct character){.bytes = bytes, .columns = terminal_character_columns_of(code), .shown = true};
}
/* SPDX-License-Identifier: MIT */
