/* The items of a message. */
#include "gc/marshal/reader.h"

#include "base/error.h"
#include "gc/marshal/kinds.h"
#include "gc/marshal/strings.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* What an item is: a whole value, a block whose fields come next, or wrong. */
enum item { ITEM_VALUE, ITEM_BLOCK, ITEM_WRONG };

/* A block whose fields come next. */
struct opened {
  wn_value *fields;
  size_t words;
};

/* ---- failure ---- */

__attribute__((noinline, cold, format(printf, 3, 4))) static bool
fail(struct wn_marshal_reader *reader, const uint8_t *at, const char *format, ...) {
  char what[160];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  reader->status = error_set(WN_EFORMAT, "marshal read: byte %zu: %s", (size_t)(at - reader->message), what);
  return false;
}

static __attribute__((noinline, cold)) bool fail_heap(struct wn_marshal_reader *reader) {
  reader->heap_is_full = true;
  reader->status = error_set(WN_ENOMEM, "marshal read: no memory for a block");
  return false;
}

static __attribute__((noinline, cold)) bool reader_fail_memory(struct wn_marshal_reader *reader) {
  reader->status = error_set(WN_ENOMEM, "marshal read: no memory for a table");
  return false;
}

static bool fail_early_end(struct wn_marshal_reader *reader) {
  return fail(reader, reader->end, "the message ends in the middle of a value");
}

/* ---- checks ---- */

static inline size_t bytes_left(const struct wn_marshal_reader *reader) {
  return (size_t)(reader->end - reader->at);
}

static inline bool has_bytes(struct wn_marshal_reader *reader, uint64_t count) {
  return __builtin_expect(bytes_left(reader) >= count, 1) || fail_early_end(reader);
}

/* SIZES: a block takes so many words, as the header counts them. */
static inline bool take_words(struct wn_marshal_reader *reader, uint64_t words) {
  if (__builtin_expect(words > reader->words_left, 0))
    return fail(reader, reader->at, "the blocks are larger than the header tells");
  reader->words_left -= words;
  return true;
}

/* BOUND: the custom blocks that tell their sizes take so many words more. */
static bool take_sized_words(struct wn_marshal_reader *reader, uint64_t words) {
  if (words > reader->sized_words_left)
    return fail(reader, reader->at, "a custom block is larger than the message can mean");
  reader->sized_words_left -= words;
  return true;
}

static inline void take_words32(struct wn_marshal_reader *reader, uint64_t words32, uint64_t words64) {
  reader->more_words32 += words32 - words64;
}

/* NUMBERS: the block gets the next one. */
static inline bool give_number(struct wn_marshal_reader *reader, const void *block) {
  if (__builtin_expect(reader->count == reader->objects, 0)) {
    if (!reader->objects) return true;
    return fail(reader, reader->at, "there are more blocks than the header tells");
  }
  reader->numbered[reader->count++] = (wn_value)block;
  return true;
}

/* ---- blocks with fields ---- */

static inline __attribute__((always_inline)) enum item
open_block(struct wn_marshal_reader *reader, struct opened *opened, size_t words, unsigned tag) {
  reader->owed += words;
  if (__builtin_expect(reader->owed > bytes_left(reader), 0)) {
    fail(reader, reader->at, "the message has fewer bytes left than blocks have fields");
    return ITEM_WRONG;
  }
  if (!take_words(reader, words + 1)) return ITEM_WRONG;
  wn_value *fields = place_block(&reader->place, words, tag);
  if (__builtin_expect(!fields, 0)) {
    fail_heap(reader);
    return ITEM_WRONG;
  }
  *opened = (struct opened){fields, words};
  if (give_number(reader, fields)) return ITEM_BLOCK;
  for (size_t i = 0; i < words; i++) fields[i] = wn_int(0); /* WHOLE of place.h */
  return ITEM_WRONG;
}

static __attribute__((noinline)) enum item read_atom(struct wn_marshal_reader *reader, unsigned tag,
                                                     wn_value *value) {
  if (!reader->atoms) reader->atoms = calloc(256, sizeof *reader->atoms);
  if (!reader->atoms) return reader_fail_memory(reader), ITEM_WRONG;
  if (!reader->atoms[tag]) reader->atoms[tag] = (wn_value)place_old(&reader->place, 0, tag);
  if (!reader->atoms[tag]) return fail_heap(reader), ITEM_WRONG;
  *value = reader->atoms[tag];
  return ITEM_VALUE;
}

static bool check_tag(struct wn_marshal_reader *reader, uint64_t words, unsigned tag) {
  switch (tag) {
  case TAG_CLOSURE:
  case TAG_INFIX: return fail(reader, reader->at, "a closure, which means nothing outside its program");
  case TAG_OBJECT: return words >= 2 || fail(reader, reader->at, "an object of one word");
  default: return tag <= WN_TAG_SCANNED_MAX || fail(reader, reader->at, "a block of tag %u with fields", tag);
  }
}

static __attribute__((noinline)) enum item read_long_block(struct wn_marshal_reader *reader, unsigned width,
                                                           wn_value *value, struct opened *opened) {
  if (!has_bytes(reader, width)) return ITEM_WRONG;
  uint64_t header = big_endian(reader->at, width), words = header >> 10;
  unsigned tag = (unsigned)header & 255;
  reader->at += width;
  if (words) return check_tag(reader, words, tag) ? open_block(reader, opened, words, tag) : ITEM_WRONG;
  if (is_tag_of_atom(tag)) return read_atom(reader, tag, value);
  fail(reader, reader->at, "a block of tag %u without words", tag);
  return ITEM_WRONG;
}

/* ---- whole values ---- */

static inline enum item read_int(struct wn_marshal_reader *reader, unsigned width, wn_value *value) {
  if (!has_bytes(reader, width)) return ITEM_WRONG;
  unsigned shift = 64 - 8 * width;
  int64_t n = (int64_t)(big_endian(reader->at, width) << shift) >> shift;
  if (width == 8 && n != (int64_t)((uint64_t)n << 1) >> 1)
    return fail(reader, reader->at, "an integer of more than 63 bits"), ITEM_WRONG;
  reader->at += width;
  *value = wn_int(n);
  return ITEM_VALUE;
}

static inline enum item read_shared(struct wn_marshal_reader *reader, unsigned width, wn_value *value) {
  if (!has_bytes(reader, width)) return ITEM_WRONG;
  uint64_t distance = big_endian(reader->at, width);
  if (__builtin_expect(!distance || distance > reader->count, 0)) {
    fail(reader, reader->at, "a reference to a block that was not met");
    return ITEM_WRONG;
  }
  reader->at += width;
  *value = reader->numbered[reader->count - distance];
  return ITEM_VALUE;
}

/* A block of bytes that the next bytes of the message fill. */
static inline wn_value *make_leaf(struct wn_marshal_reader *reader, size_t words, unsigned tag) {
  wn_value *block = place_block(&reader->place, words, tag);
  if (__builtin_expect(!block, 0)) return fail_heap(reader), NULL;
  return give_number(reader, block) ? block : NULL;
}

/* Copies the bytes of a string; those that are left in the last word become 0. A block is whole
 * words, and if the message goes on for as long, whole words can be copied. */
static inline void fill_string(struct wn_marshal_reader *reader, wn_value *block, size_t words,
                               size_t length) {
  if (8 * words <= bytes_left(reader) && words <= 4) {
    for (size_t i = 0; i < words; i++) memcpy(block + i, reader->at + 8 * i, 8);
    size_t rest = length - 8 * (words - 1); /* of the last word: 0 to 8 */
    if (rest < 8) block[words - 1] &= (UINT64_C(1) << 8 * rest) - 1;
    return;
  }
  block[words - 1] = 0;
  memcpy(block, reader->at, length);
}

static inline enum item read_string(struct wn_marshal_reader *reader, uint64_t length, wn_value *value) {
  if (!has_bytes(reader, length) || !take_words(reader, words64_of_string(length))) return ITEM_WRONG;
  take_words32(reader, words32_of_string(length), words64_of_string(length));
  bool as_ocaml = reader->flags & WN_MARSHAL_OCAML_STRINGS;
  size_t words = as_ocaml ? string_words(length) : length / 8 + (length % 8 != 0);
  if (!words) words = 1;
  wn_value *block = make_leaf(reader, words, WN_TAG_RAW);
  if (!block) return ITEM_WRONG;
  fill_string(reader, block, words, length);
  if (as_ocaml) string_end(block, length);
  reader->at += length;
  *value = (wn_value)block;
  return ITEM_VALUE;
}

static enum item read_long_string(struct wn_marshal_reader *reader, unsigned width, wn_value *value) {
  if (!has_bytes(reader, width)) return ITEM_WRONG;
  uint64_t length = big_endian(reader->at, width);
  reader->at += width;
  return read_string(reader, length, value);
}

static void fill_doubles(struct wn_marshal_reader *reader, wn_value *block, size_t count, bool big) {
  memcpy(block, reader->at, 8 * count);
  for (size_t i = 0; big && i < count; i++) block[i] = __builtin_bswap64(block[i]);
  reader->at += 8 * count;
}

static inline enum item read_double(struct wn_marshal_reader *reader, bool big, wn_value *value) {
  if (!has_bytes(reader, 8) || !take_words(reader, 2)) return ITEM_WRONG;
  take_words32(reader, 3, 2);
  wn_value *block = make_leaf(reader, 1, WN_TAG_DOUBLE);
  if (!block) return ITEM_WRONG;
  fill_doubles(reader, block, 1, big);
  *value = (wn_value)block;
  return ITEM_VALUE;
}

static enum item read_doubles(struct wn_marshal_reader *reader, unsigned width, bool big, wn_value *value) {
  if (!has_bytes(reader, width)) return ITEM_WRONG;
  uint64_t count = big_endian(reader->at, width);
  reader->at += width;
  if (!count) return fail(reader, reader->at, "an array of no doubles"), ITEM_WRONG;
  if (count > bytes_left(reader) / 8) return fail_early_end(reader), ITEM_WRONG;
  if (!take_words(reader, 1 + count)) return ITEM_WRONG;
  take_words32(reader, 1 + 2 * count, 1 + count);
  wn_value *block = make_leaf(reader, count, WN_TAG_DOUBLE_ARRAY);
  if (!block) return ITEM_WRONG;
  fill_doubles(reader, block, count, big);
  *value = (wn_value)block;
  return ITEM_VALUE;
}

/* ---- custom blocks ---- */

/* Names are for terminals, too. */
static bool reader_fail_kind(struct wn_marshal_reader *reader, const char *name, size_t length) {
  size_t shown = 0;
  while (shown < length && name[shown] > ' ' && name[shown] < 127) shown++;
  if (shown < length || !length) return fail(reader, reader->at, "a custom block whose name is none");
  return fail(reader, reader->at, "a custom block of the kind '%s', which is not registered", name);
}

static const struct marshal_kind *reader_read_name(struct wn_marshal_reader *reader) {
  size_t left = bytes_left(reader), most = left < NAME_MOST + 1 ? left : NAME_MOST + 1;
  const char *name = (const char *)reader->at;
  size_t length = strnlen(name, most);
  if (length == most) return fail(reader, reader->at, "a custom block whose name does not end"), NULL;
  const struct marshal_kind *kind = kind_named(reader->place.domain->heap, name, length);
  if (!kind) return reader_fail_kind(reader, name, length), NULL;
  reader->at += length + 1;
  return kind;
}

/* The bytes of the block, on hosts of 32 and 64 bits. */
static bool read_sizes(struct wn_marshal_reader *reader, const struct marshal_kind *kind, bool sized,
                       uint64_t *bytes_32, uint64_t *bytes) {
  size_t fixed_32 = kind_bytes_32(kind), fixed = kind->marshal->bytes;
  *bytes_32 = fixed_32;
  *bytes = fixed;
  if (!sized) return fixed || fail(reader, reader->at, "a custom block that does not tell its size");
  if (!has_bytes(reader, 12)) return false;
  *bytes_32 = big_endian_32(reader->at);
  *bytes = big_endian_64(reader->at + 4);
  if (fixed && (*bytes_32 != fixed_32 || *bytes != fixed))
    return fail(reader, reader->at, "a custom block of another size than its kind has");
  reader->at += 12;
  return true;
}

static __attribute__((noinline)) enum item read_custom(struct wn_marshal_reader *reader, bool sized,
                                                       wn_value *value) {
  uint64_t bytes_32, bytes;
  const uint8_t *begin = reader->at;
  const struct marshal_kind *kind = reader_read_name(reader);
  if (!kind || !read_sizes(reader, kind, sized, &bytes_32, &bytes)) return ITEM_WRONG;
  uint64_t words = words64_of_custom(bytes);
  if (!take_words(reader, words)) return ITEM_WRONG;
  if (!kind->marshal->bytes && !take_sized_words(reader, words)) return ITEM_WRONG;
  take_words32(reader, words32_of_custom(bytes_32), words);
  struct custom *custom = place_custom(&reader->place, kind->ops, bytes);
  if (!custom) return fail_heap(reader), ITEM_WRONG;
  if (!give_number(reader, custom)) return ITEM_WRONG;
  reader->external_bytes = 0;
  bool is_right = kind->marshal->read(custom + 1, bytes, reader);
  if (is_right) place_own_custom(&reader->place, custom, kind->ops, reader->external_bytes);
  if (reader->is_short) return fail_early_end(reader), ITEM_WRONG;
  if (!is_right)
    return fail(reader, begin, "a custom block of the kind '%s' is wrong", kind->ops->name), ITEM_WRONG;
  *value = (wn_value)custom;
  return ITEM_VALUE;
}

/* ---- items ---- */

static __attribute__((noinline)) enum item read_rare(struct wn_marshal_reader *reader, unsigned code,
                                                     wn_value *value, struct opened *opened) {
  switch (code) {
  case CODE_SHARED64: return read_shared(reader, 8, value);
  case CODE_BLOCK64: return read_long_block(reader, 8, value, opened);
  case CODE_STRING64: return read_long_string(reader, 8, value);
  case CODE_DOUBLE_BIG: return read_double(reader, true, value);
  case CODE_DOUBLES8_BIG: return read_doubles(reader, 1, true, value);
  case CODE_DOUBLES8_LITTLE: return read_doubles(reader, 1, false, value);
  case CODE_DOUBLES32_BIG: return read_doubles(reader, 4, true, value);
  case CODE_DOUBLES32_LITTLE: return read_doubles(reader, 4, false, value);
  case CODE_DOUBLES64_BIG: return read_doubles(reader, 8, true, value);
  case CODE_DOUBLES64_LITTLE: return read_doubles(reader, 8, false, value);
  case CODE_CUSTOM_SIZED: return read_custom(reader, true, value);
  case CODE_CUSTOM_FIXED: return read_custom(reader, false, value);
  case CODE_CODE_POINTER:
  case CODE_INFIX_POINTER:
    fail(reader, reader->at, "a closure, which means nothing outside its program");
    break;
  case CODE_CUSTOM_OLD: fail(reader, reader->at, "a custom block as OCaml before 4.08 wrote it"); break;
  default: fail(reader, reader->at, "%#04x begins no value", code);
  }
  return ITEM_WRONG;
}

static inline enum item reader_read_item(struct wn_marshal_reader *reader, wn_value *value,
                                         struct opened *opened) {
  if (__builtin_expect(reader->at == reader->end, 0)) return fail_early_end(reader), ITEM_WRONG;
  reader->owed--;
  unsigned code = *reader->at++;
  if (code >= CODE_SMALL_BLOCK) {
    unsigned words = code >> 4 & 7, tag = code & 15;
    return words ? open_block(reader, opened, words, tag) : read_atom(reader, tag, value);
  }
  if (code >= CODE_SMALL_INT) {
    *value = wn_int(code & 63);
    return ITEM_VALUE;
  }
  if (code >= CODE_SMALL_STRING) return read_string(reader, code & 31, value);
  switch (code) {
  case CODE_INT8: return read_int(reader, 1, value);
  case CODE_INT16: return read_int(reader, 2, value);
  case CODE_INT32: return read_int(reader, 4, value);
  case CODE_INT64: return read_int(reader, 8, value);
  case CODE_SHARED8: return read_shared(reader, 1, value);
  case CODE_SHARED16: return read_shared(reader, 2, value);
  case CODE_SHARED32: return read_shared(reader, 4, value);
  case CODE_BLOCK32: return read_long_block(reader, 4, value, opened);
  case CODE_STRING8: return read_long_string(reader, 1, value);
  case CODE_STRING32: return read_long_string(reader, 4, value);
  case CODE_DOUBLE_LITTLE: return read_double(reader, false, value);
  default: return read_rare(reader, code, value, opened);
  }
}

/* WHOLE of place.h: no field that is still to be read is left without a value. */
static void fill_pending(struct wn_marshal_reader *reader, struct pending_fields now) {
  for (;;) {
    for (size_t i = 0; i < now.count; i++) now.at[i] = wn_int(0);
    if (pending_is_empty(&reader->pending)) return;
    now = pending_pop(&reader->pending);
  }
}

/* Reads items, depth first, until the value at `root` is whole. */
static bool read_items(struct wn_marshal_reader *reader, wn_value *root) {
  struct pending_fields now = {root, 1};
  for (;;) {
    struct opened opened;
    wn_value value;
    switch (reader_read_item(reader, &value, &opened)) {
    case ITEM_VALUE: *now.at++ = value; break;
    case ITEM_BLOCK:
      *now.at++ = (wn_value)opened.fields;
      if (--now.count && !pending_push(&reader->pending, now.at, now.count)) {
        fill_pending(reader, (struct pending_fields){opened.fields, opened.words});
        fill_pending(reader, now);
        return reader_fail_memory(reader);
      }
      now = (struct pending_fields){opened.fields, opened.words};
      continue;
    case ITEM_WRONG: fill_pending(reader, now); return false;
    }
    if (--now.count) continue;
    if (pending_is_empty(&reader->pending)) return true;
    now = pending_pop(&reader->pending);
  }
}

/* The sums are the header's. */
static bool check_end(struct wn_marshal_reader *reader, const struct message_header *header) {
  if (reader->at != reader->end)
    return fail(reader, reader->at, "the value has ended, and the message has not");
  if (reader->words_left ||
      (header->has_words32 && header->words64 + reader->more_words32 != header->words32))
    return fail(reader, reader->end, "the blocks are smaller than the header tells");
  if (reader->count != reader->objects)
    return fail(reader, reader->end, "there are fewer blocks than the header tells");
  return true;
}

static bool reader_prepare(struct wn_marshal_reader *reader) {
  if (!reader->objects) return true;
  reader->numbered = malloc(reader->objects * sizeof *reader->numbered);
  return reader->numbered || reader_fail_memory(reader);
}

static void reader_clean(struct wn_marshal_reader *reader) {
  free(reader->numbered);
  free(reader->atoms);
  pending_destroy(&reader->pending);
}

/* ---- shared ---- */

wn_status reader_run(struct wn_domain *domain, const uint8_t *message, const struct message_header *header,
                     unsigned flags, const void *frame, wn_value *slot, bool *heap_is_full) {
  struct wn_marshal_reader reader = {.message = message,
                                     .at = message + header->header_bytes,
                                     .end = message + header->header_bytes + header->data_bytes,
                                     .flags = flags,
                                     .owed = 1,
                                     .objects = header->objects,
                                     .words_left = header->words64,
                                     .sized_words_left = ITEM_WORDS_MOST * header->data_bytes};
  wn_value root = wn_int(0);
  bool begun = place_begin(&reader.place, domain, header->words64, frame);
  if (!begun)
    reader.status = WN_ENOMEM; /* which has its message */
  else if (reader_prepare(&reader) && read_items(&reader, &root) && check_end(&reader, header))
    *slot = root;
  reader_clean(&reader);
  if (begun) place_end(&reader.place);
  *heap_is_full = reader.heap_is_full;
  return reader.status;
}

/* ---- public ---- */

uint64_t wn_marshal_get(wn_marshal_reader *from, unsigned width) {
  if (!width || width > 8 || from->is_short || bytes_left(from) < width) {
    from->is_short = true;
    return 0;
  }
  uint64_t n = big_endian(from->at, width);
  from->at += width;
  return n;
}

bool wn_marshal_get_bytes(wn_marshal_reader *from, void *bytes, size_t size) {
  if (from->is_short || bytes_left(from) < size) return from->is_short = true, false;
  if (size) memcpy(bytes, from->at, size);
  from->at += size;
  return true;
}

size_t wn_marshal_left(const wn_marshal_reader *from) { return bytes_left(from); }

void wn_marshal_external(wn_marshal_reader *from, size_t external_bytes) {
  from->external_bytes = external_bytes < EXTERNAL_MOST ? external_bytes : EXTERNAL_MOST;
}
/* SPDX-License-Identifier: MIT */
