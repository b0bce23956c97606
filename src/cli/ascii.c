/* A stream that takes UTF-8 and passes ASCII on to another stream.
 *
 * Each character becomes one letter, so that columns keep their width. The bytes of a character may
 * come in several writes, so they are gathered until the character is complete.
 */
#include "cli/text.h"

#include <langinfo.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct filter {
  FILE *out;
  uint32_t character; /* the code point, as far as it is decoded */
  int missing;        /* bytes of it that have not come yet */
};

static char letter_of(uint32_t character) {
  static const char bars[] = ".:-=+*#@"; /* for the eight blocks from U+2581 */
  if (character >= 0x2581 && character <= 0x2588) return bars[character - 0x2581];
  switch (character) {
  case 0x2013: return '-'; /* en dash */
  case 0x2026:
  case 0x2248:
  case 0x00b1: return '~'; /* ellipsis, almost equal, plus-minus; '?' is a margin that is not known */
  case 0x2192: return '>'; /* an arrow */
  default: return '?';     /* the middle dot too, which stands for what is not known */
  }
}

static void ascii_put(struct filter *filter, unsigned char byte) {
  bool follows = (byte & 0xc0) == 0x80;
  if (filter->missing && !follows) filter->missing = 0, putc('?', filter->out);
  if (byte < 0x80) {
    putc(byte, filter->out);
  } else if (!follows) {
    filter->missing = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
    filter->character = byte & (0x3fu >> filter->missing);
  } else if (!filter->missing) {
    putc('?', filter->out);
  } else {
    filter->character = filter->character << 6 | (byte & 0x3f);
    if (!--filter->missing) putc(letter_of(filter->character), filter->out);
  }
}

static ssize_t ascii_write_bytes(void *context, const char *bytes, size_t count) {
  struct filter *filter = context;
  for (size_t i = 0; i < count; i++) ascii_put(filter, (unsigned char)bytes[i]);
  return fflush(filter->out) || ferror(filter->out) ? 0 : (ssize_t)count;
}

/* ---- shared ---- */

void ascii_if_locale_asks(FILE **stream) {
  static struct filter filters[2]; /* one for each of the two streams */
  if (!strcmp(nl_langinfo(CODESET), "UTF-8")) return;
  struct filter *filter = &filters[filters[0].out != NULL];
  if (filter->out) return;
  FILE *front = fopencookie(filter, "w", (cookie_io_functions_t){.write = ascii_write_bytes});
  if (!front) return;
  filter->out = *stream;
  *stream = front;
}
/* SPDX-License-Identifier: MIT */
