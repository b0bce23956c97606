/* UTF-8. */
#include "base/utf8.h"

#include <string.h>

/* How many bytes follow the first one; SIZE_MAX: no character begins so. */
static size_t following(unsigned char first) {
  if (first < 0x80) return 0;
  if (first < 0xc2 || first >= 0xf5) return SIZE_MAX;
  return first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
}

/* ---- shared ---- */

size_t utf8_decode(const char *text, size_t length, uint32_t *code) {
  static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
  size_t more = following((unsigned char)*text);
  if (more >= length) return 0;
  *code = (unsigned char)*text & (more ? 0x3fu >> more : 0x7fu);
  for (size_t i = 1; i <= more; i++) {
    if (((unsigned char)text[i] & 0xc0) != 0x80) return 0;
    *code = *code << 6 | ((unsigned char)text[i] & 0x3f);
  }
  bool surrogate = *code >= 0xd800 && *code < 0xe000;
  return *code < least[more] || surrogate || *code > 0x10ffff ? 0 : more + 1;
}

bool utf8_is_obeyed(uint32_t code) {
  static const struct {
    uint32_t first, last;
  } obeyed[] = {{0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},      {0x61c, 0x61c},
                {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},  {0x2060, 0x206f},
                {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff}};
  for (size_t i = 0; i < sizeof obeyed / sizeof *obeyed; i++)
    if (code >= obeyed[i].first && code <= obeyed[i].last) return true;
  return false;
}

void utf8_make_plain(char *text) {
  for (size_t left = strlen(text), bytes; left; text += bytes, left -= bytes) {
    uint32_t code;
    bytes = utf8_decode(text, left, &code);
    bool shown = bytes && !utf8_is_obeyed(code);
    if (!bytes) bytes = 1;
    if (!shown) memset(text, '?', bytes);
  }
}
/* SPDX-License-Identifier: MIT */
