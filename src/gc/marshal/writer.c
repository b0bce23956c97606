/* The items of a message. */
#include "gc/marshal/writer.h"

#include "base/error.h"
#include "gc/marshal/kinds.h"
#include "gc/marshal/strings.h"
#include "gc/store/layout.h"
#include <stdlib.h>

enum {
  BUFFER_FIRST = TINY ? 64 : 1024,
  ITEM_MOST = 9, /* bytes of an integer, a reference, or the header of a block */
  PREFETCH_MOST = 8,
};

/* What OCaml can read on hosts of 32 bits. */
enum { WORDS_MOST_32 = 0x3FFFFF, STRING_MOST_32 = 0xFFFFFB, DOUBLES_MOST_32 = 0x1FFFFF };

/* ---- failure ---- */

static __attribute__((noinline, cold)) bool refuse(struct wn_marshal_writer *writer, const char *what) {
  if (!writer->status) writer->status = error_set(WN_EINVAL, "marshal write: %s", what);
  return false;
}

static __attribute__((noinline, cold)) bool writer_fail_memory(struct wn_marshal_writer *writer) {
  if (!writer->status) writer->status = error_set(WN_ENOMEM, "marshal write: no memory");
  return false;
}

static bool check_32(struct wn_marshal_writer *writer, bool fits, const char *what) {
  return fits || !(writer->flags & WN_MARSHAL_COMPAT_32) || refuse(writer, what);
}

/* ---- the buffer ---- */

static __attribute__((noinline)) bool writer_grow(struct wn_marshal_writer *writer, size_t bytes) {
  size_t used = (size_t)(writer->at - writer->begin), capacity = 2 * (size_t)(writer->end - writer->begin);
  if (capacity < BUFFER_FIRST) capacity = BUFFER_FIRST;
  while (capacity - used < bytes) capacity *= 2; /* no block has 2^43 bytes */
  uint8_t *grown = realloc(writer->begin, capacity);
  if (!grown) return writer_fail_memory(writer);
  writer->begin = grown;
  writer->at = grown + used;
  writer->end = grown + capacity;
  return true;
}

static inline bool writer_make_room(struct wn_marshal_writer *writer, size_t bytes) {
  return __builtin_expect((size_t)(writer->end - writer->at) >= bytes, 1) || writer_grow(writer, bytes);
}

/* ---- integers, and headers of blocks: the shortest form that OCaml uses ---- */

static inline bool write_int(struct wn_marshal_writer *writer, intptr_t n) {
  uint8_t *at = writer->at;
  if (n >= 0 && n < 64) {
    *at++ = (uint8_t)(CODE_SMALL_INT + n);
  } else if (n == (int8_t)n) {
    *at++ = CODE_INT8;
    *at++ = (uint8_t)n;
  } else if (n == (int16_t)n) {
    *at++ = CODE_INT16;
    at = big_endian_put_16(at, (uint16_t)n);
  } else if (n >= -(1 << 30) && n < 1 << 30) {
    *at++ = CODE_INT32;
    at = big_endian_put_32(at, (uint32_t)n);
  } else {
    if (!check_32(writer, false, "an integer of more than 31 bits")) return false;
    *at++ = CODE_INT64;
    at = big_endian_put_64(at, (uint64_t)n);
  }
  writer->at = at;
  return true;
}

/* Writes a code and a number of as many bytes as the number needs; the codes are for 1, 2, 4 and 8
 * bytes, and a code is CODE_NONE where there is no form of so many. */
enum { CODE_NONE = 0xFF };
static inline void write_sized(struct wn_marshal_writer *writer, uint64_t n, const uint8_t codes[4]) {
  uint8_t *at = writer->at;
  if (n < 1 << 8) {
    *at++ = codes[0];
    *at++ = (uint8_t)n;
  } else if (n < 1 << 16 && codes[1] != CODE_NONE) {
    *at++ = codes[1];
    at = big_endian_put_16(at, (uint16_t)n);
  } else if (n <= UINT32_MAX) {
    *at++ = codes[2];
    at = big_endian_put_32(at, (uint32_t)n);
  } else {
    *at++ = codes[3];
    at = big_endian_put_64(at, n);
  }
  writer->at = at;
}

static const uint8_t shared_codes[4] = {CODE_SHARED8, CODE_SHARED16, CODE_SHARED32, CODE_SHARED64};
static const uint8_t string_codes[4] = {CODE_STRING8, CODE_NONE, CODE_STRING32, CODE_STRING64};
static const uint8_t doubles_codes[4] = {CODE_DOUBLES8_LITTLE, CODE_NONE, CODE_DOUBLES32_LITTLE,
                                         CODE_DOUBLES64_LITTLE};

static inline void writer_write_header(struct wn_marshal_writer *writer, size_t words, unsigned tag) {
  uint64_t header = (uint64_t)words << 10 | tag;
  if (__builtin_expect(tag < 16 && words < 8, 1)) {
    *writer->at++ = (uint8_t)(CODE_SMALL_BLOCK | words << 4 | tag);
  } else if (header <= UINT32_MAX) {
    *writer->at++ = CODE_BLOCK32;
    writer->at = big_endian_put_32(writer->at, (uint32_t)header);
  } else {
    *writer->at++ = CODE_BLOCK64;
    writer->at = big_endian_put_64(writer->at, header);
  }
}

/* ---- blocks of bytes ---- */

static inline void writer_count_words(struct wn_marshal_writer *writer, uint64_t words32, uint64_t words64) {
  writer->words64 += words64;
  writer->more_words32 += words32 - words64;
}

static bool write_string(struct wn_marshal_writer *writer, const void *bytes, size_t words) {
  size_t length = writer->flags & WN_MARSHAL_OCAML_STRINGS ? string_length(bytes, words) : 8 * words;
  if (length == SIZE_MAX) return refuse(writer, "a raw block is no string of OCaml");
  if (!check_32(writer, length <= STRING_MOST_32, "a string of more than 0xFFFFFB bytes")) return false;
  if (!writer_make_room(writer, ITEM_MOST + length)) return false;
  if (length < 32)
    *writer->at++ = (uint8_t)(CODE_SMALL_STRING + length);
  else
    write_sized(writer, length, string_codes);
  memcpy(writer->at, bytes, length);
  writer->at += length;
  writer_count_words(writer, words32_of_string(length), words64_of_string(length));
  return true;
}

static bool write_double(struct wn_marshal_writer *writer, const void *bytes, size_t words) {
  if (words != 1) return refuse(writer, "a block of tag WN_TAG_DOUBLE has more than one word");
  *writer->at++ = CODE_DOUBLE_LITTLE;
  memcpy(writer->at, bytes, 8);
  writer->at += 8;
  writer_count_words(writer, 3, 2);
  return true;
}

static bool write_doubles(struct wn_marshal_writer *writer, const void *bytes, size_t words) {
  if (!check_32(writer, words <= DOUBLES_MOST_32, "an array of more than 0x1FFFFF doubles")) return false;
  if (!writer_make_room(writer, ITEM_MOST + 8 * words)) return false;
  write_sized(writer, words, doubles_codes);
  memcpy(writer->at, bytes, 8 * words);
  writer->at += 8 * words;
  writer_count_words(writer, 1 + 2 * words, 1 + words);
  return true;
}

/* ---- custom blocks ---- */

/* The sizes are known only when `write` has written what follows them. */
static bool writer_write_custom(struct wn_marshal_writer *writer, const struct custom *custom, size_t words) {
  const struct marshal_kind *kind = kind_of_ops(writer->heap, custom->ops);
  if (!kind) return refuse(writer, "a custom block of a kind that is not registered");
  size_t fixed = kind->marshal->bytes, length = strlen(kind->ops->name) + 1;
  size_t bytes = fixed ? fixed : 8 * (words - CUSTOM_WORDS);
  if (bytes > 8 * (words - CUSTOM_WORDS)) return refuse(writer, "a custom block is smaller than its kind");
  size_t begin = (size_t)(writer->at - writer->begin);
  writer->bytes = bytes;
  writer->bytes_32 = fixed ? kind_bytes_32(kind) : bytes;
  if (!writer_make_room(writer, 1 + length + 12)) return false;
  *writer->at++ = fixed ? CODE_CUSTOM_FIXED : CODE_CUSTOM_SIZED;
  memcpy(writer->at, kind->ops->name, length);
  writer->at += length;
  size_t sizes_at = (size_t)(writer->at - writer->begin);
  if (!fixed) writer->at += 12;
  if (!kind->marshal->write(custom + 1, bytes, writer))
    return refuse(writer, "the function of a custom block refuses to write it");
  if (!fixed)
    big_endian_put_64(big_endian_put_32(writer->begin + sizes_at, (uint32_t)writer->bytes_32), writer->bytes);
  uint64_t words64 = words64_of_custom(writer->bytes);
  size_t item = (size_t)(writer->at - writer->begin) - begin;
  if (!fixed && words64 > ITEM_WORDS_MOST * item) /* BOUND */
    return refuse(writer, "a custom block has more than 24 times as many bytes as its message");
  writer_count_words(writer, words32_of_custom(writer->bytes_32), words64);
  return !writer->status;
}

static __attribute__((noinline)) bool writer_write_bytes(struct wn_marshal_writer *writer, wn_value block,
                                                         size_t words, unsigned tag) {
  const void *bytes = (const void *)block;
  switch (tag) {
  case WN_TAG_RAW: return write_string(writer, bytes, words);
  case WN_TAG_DOUBLE: return write_double(writer, bytes, words);
  case WN_TAG_DOUBLE_ARRAY: return write_doubles(writer, bytes, words);
  case WN_TAG_CUSTOM: return writer_write_custom(writer, bytes, words);
  default: return refuse(writer, "an abstract block");
  }
}

/* ---- blocks with fields ---- */

static __attribute__((noinline)) bool check_rare_tag(struct wn_marshal_writer *writer, size_t words,
                                                     unsigned tag) {
  if (tag == TAG_CLOSURE || tag == TAG_INFIX)
    return refuse(writer, "a block of the tag of a closure, which OCaml would call");
  return tag != TAG_OBJECT || words >= 2 || refuse(writer, "a block of the tag of objects has one word");
}

/* The walk comes to the first field at once, and to the others later. */
static inline void prefetch_fields(const wn_value *fields, size_t words) {
  for (size_t i = 1; i < words && i < PREFETCH_MOST; i++) {
    wn_value field = field_load(fields + i);
    if (!(field & 1)) __builtin_prefetch((const wn_value *)field - 1);
  }
}

static inline bool open_block(struct wn_marshal_writer *writer, size_t words, unsigned tag) {
  if (__builtin_expect(tag >= TAG_CLOSURE, 0) && !check_rare_tag(writer, words, tag)) return false;
  if (!check_32(writer, words <= WORDS_MOST_32, "a block of more than 0x3FFFFF words")) return false;
  writer_write_header(writer, words, tag);
  writer->words64 += 1 + words;
  return true;
}

/* ---- items ---- */

/* What an item was: whole, a block whose fields come next, or wrong. */
enum item { ITEM_WHOLE, ITEM_BLOCK, ITEM_WRONG };

static inline enum item writer_write_block(struct wn_marshal_writer *writer, wn_value block, size_t *words) {
  wn_value header = header_of(block);
  unsigned tag = header_tag(header);
  *words = header_words(header);
  if (__builtin_expect(!*words, 0)) {
    if (!is_tag_of_atom(tag))
      return refuse(writer, "a block without words, of a tag that needs some"), ITEM_WRONG;
    writer_write_header(writer, 0, tag);
    return ITEM_WHOLE;
  }
  if (__builtin_expect(writer->seen.groups != NULL, 1)) {
    uint32_t *number = seen_at(&writer->seen, block);
    if (__builtin_expect(!number, 0)) return writer_fail_memory(writer), ITEM_WRONG;
    if (*number) {
      write_sized(writer, writer->seen.count + 1 - *number, shared_codes);
      return ITEM_WHOLE;
    }
    if (__builtin_expect(writer->seen.count == SEEN_MOST, 0))
      return refuse(writer, "more than 2^32 blocks that may be shared"), ITEM_WRONG;
    *number = (uint32_t)++writer->seen.count;
  }
  if (tag > WN_TAG_SCANNED_MAX)
    return writer_write_bytes(writer, block, *words, tag) ? ITEM_WHOLE : ITEM_WRONG;
  return open_block(writer, *words, tag) ? ITEM_BLOCK : ITEM_WRONG;
}

static inline enum item write_item(struct wn_marshal_writer *writer, wn_value value, size_t *words) {
  if (!writer_make_room(writer, ITEM_MOST)) return ITEM_WRONG;
  if (value & 1) return write_int(writer, wn_to_int(value)) ? ITEM_WHOLE : ITEM_WRONG;
  return writer_write_block(writer, value, words);
}

static bool write_items(struct wn_marshal_writer *writer, wn_value value) {
  struct pending_fields now = {NULL, 0};
  for (;;) {
    size_t words;
    switch (write_item(writer, value, &words)) {
    case ITEM_WRONG: return false;
    case ITEM_BLOCK:
      if (now.count && !pending_push(&writer->pending, now.at, now.count)) return writer_fail_memory(writer);
      now = (struct pending_fields){(wn_value *)value, words};
      prefetch_fields(now.at, words);
      break;
    case ITEM_WHOLE:
      if (now.count) break;
      if (pending_is_empty(&writer->pending)) return true;
      now = pending_pop(&writer->pending);
    }
    value = field_load(now.at++);
    now.count--;
  }
}

/* ---- messages ---- */

/* The data begins where a small header ends. */
static bool write_header_of_message(struct wn_marshal_writer *writer) {
  const struct message_header header = {.data_bytes = (size_t)(writer->at - writer->begin) - HEADER_SMALL,
                                        .objects = writer->seen.count,
                                        .words32 = writer->words64 + writer->more_words32,
                                        .words64 = writer->words64};
  size_t size = header_size(&header), more = size - HEADER_SMALL;
  if (!check_32(writer, !more, "the message is too large")) return false;
  if (more) {
    if (!writer_make_room(writer, more)) return false;
    memmove(writer->begin + size, writer->begin + HEADER_SMALL, header.data_bytes);
    writer->at += more;
  }
  header_write(&header, writer->begin);
  return true;
}

static bool write_message(struct wn_marshal_writer *writer, wn_value value) {
  if (!(writer->flags & WN_MARSHAL_NO_SHARING) && !seen_create(&writer->seen))
    return writer_fail_memory(writer);
  if (!writer_make_room(writer, HEADER_SMALL)) return false;
  writer->at += HEADER_SMALL;
  return write_items(writer, value) && write_header_of_message(writer);
}

/* ---- shared ---- */

wn_status writer_run(const struct wn_heap *heap, wn_value value, unsigned flags, uint8_t **bytes,
                     size_t *size) {
  struct wn_marshal_writer writer = {.heap = heap, .flags = flags};
  bool done = write_message(&writer, value);
  seen_destroy(&writer.seen);
  pending_destroy(&writer.pending);
  if (!done) {
    free(writer.begin);
    return writer.status;
  }
  *size = (size_t)(writer.at - writer.begin);
  *bytes = realloc(writer.begin, *size);
  if (!*bytes) *bytes = writer.begin;
  return WN_OK;
}

/* ---- public ---- */

void wn_marshal_put(wn_marshal_writer *to, uint64_t n, unsigned width) {
  if (!width || width > 8) {
    refuse(to, "the function of a custom block writes an integer of no width");
    return;
  }
  if (!writer_make_room(to, width)) return;
  for (unsigned i = width; i--;) *to->at++ = (uint8_t)(n >> 8 * i);
}

void wn_marshal_put_bytes(wn_marshal_writer *to, const void *bytes, size_t size) {
  if (!size || !writer_make_room(to, size)) return;
  memcpy(to->at, bytes, size);
  to->at += size;
}

void wn_marshal_put_sizes(wn_marshal_writer *to, size_t bytes_32, size_t bytes) {
  to->bytes_32 = bytes_32;
  to->bytes = bytes;
}
/* SPDX-License-Identifier: MIT */
