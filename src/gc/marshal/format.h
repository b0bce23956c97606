/* OCaml's format: codes, headers, and the sizes that a header tells.
 *
 * A message is a header and the *items* of one value. An item is an integer, a reference to a block
 * that was met before, a block with all its bytes, or the header of a block whose fields follow as
 * items. Integers of the format are big-endian.
 *
 * NUMBERS. Blocks with words have numbers in the order in which they are met; a block with fields
 * has its number before them. A reference says how many numbers were given out since then. Blocks
 * without words, *atoms*, have no number.
 *
 * SIZES. A header tells how many numbers are given out (0 if the writer kept no numbers), and how
 * many words all numbered blocks take in OCaml's heap, headers included, on hosts of 32 and of 64
 * bits. Our blocks take no more, but for a custom block, which takes one word more.
 *
 * BOUND. An item of n bytes makes a block of at most ITEM_WORDS_MOST * n words: an empty string has
 * a byte and 2 or 3 words. Custom blocks of a kind of fixed size are the exception: the program
 * itself says that size. For the other kinds the writer refuses what exceeds the bound. */
#ifndef GC_MARSHAL_FORMAT_H
#define GC_MARSHAL_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
  CODE_INT8 = 0x00,
  CODE_INT16 = 0x01,
  CODE_INT32 = 0x02,
  CODE_INT64 = 0x03,
  CODE_SHARED8 = 0x04,
  CODE_SHARED16 = 0x05,
  CODE_SHARED32 = 0x06,
  CODE_DOUBLES32_LITTLE = 0x07,
  CODE_BLOCK32 = 0x08,
  CODE_STRING8 = 0x09,
  CODE_STRING32 = 0x0A,
  CODE_DOUBLE_BIG = 0x0B,
  CODE_DOUBLE_LITTLE = 0x0C,
  CODE_DOUBLES8_BIG = 0x0D,
  CODE_DOUBLES8_LITTLE = 0x0E,
  CODE_DOUBLES32_BIG = 0x0F,
  CODE_CODE_POINTER = 0x10,
  CODE_INFIX_POINTER = 0x11,
  CODE_CUSTOM_OLD = 0x12,
  CODE_BLOCK64 = 0x13,
  CODE_SHARED64 = 0x14,
  CODE_STRING64 = 0x15,
  CODE_DOUBLES64_BIG = 0x16,
  CODE_DOUBLES64_LITTLE = 0x17, /* OCaml itself reads these the wrong way round */
  CODE_CUSTOM_SIZED = 0x18,
  CODE_CUSTOM_FIXED = 0x19,
  CODE_SMALL_STRING = 0x20, /* and 5 bits of a length */
  CODE_SMALL_INT = 0x40,    /* and 6 bits of a number */
  CODE_SMALL_BLOCK = 0x80,  /* and 3 bits of a size, and 4 of a tag */
};

/* Tags that OCaml gives a meaning to that matters here. */
enum {
  TAG_CLOSURE = 247,
  TAG_OBJECT = 248,
  TAG_INFIX = 249,
  TAG_ABSTRACT = 251,
  TAG_DOUBLE = 253,
  TAG_CUSTOM = 255
};

enum { ITEM_WORDS_MOST = 3 }; /* BOUND */
enum { NAME_MOST = 63 };      /* bytes of the name of a kind of custom blocks */

enum { HEADER_SMALL = 20, HEADER_BIG = 32 };
#define MAGIC_SMALL      UINT32_C(0x8495A6BE)
#define MAGIC_BIG        UINT32_C(0x8495A6BF)
#define MAGIC_COMPRESSED UINT32_C(0x8495A6BD)

struct message_header {
  size_t header_bytes, data_bytes;
  uint64_t objects, words32, words64;
  bool has_words32;
};

static inline uint64_t big_endian_64(const uint8_t *at) {
  uint64_t n;
  memcpy(&n, at, 8);
  return __builtin_bswap64(n);
}
static inline uint32_t big_endian_32(const uint8_t *at) {
  uint32_t n;
  memcpy(&n, at, 4);
  return __builtin_bswap32(n);
}
/* An integer of 1 to 8 bytes. */
static inline uint64_t big_endian(const uint8_t *at, unsigned width) {
  if (width == 8) return big_endian_64(at);
  if (width == 4) return big_endian_32(at);
  if (width == 2) return (uint64_t)at[0] << 8 | at[1];
  uint64_t n = 0;
  for (unsigned i = 0; i < width; i++) n = n << 8 | at[i];
  return n;
}

static inline uint8_t *big_endian_put_64(uint8_t *at, uint64_t n) {
  n = __builtin_bswap64(n);
  memcpy(at, &n, 8);
  return at + 8;
}
static inline uint8_t *big_endian_put_32(uint8_t *at, uint32_t n) {
  n = __builtin_bswap32(n);
  memcpy(at, &n, 4);
  return at + 4;
}
static inline uint8_t *big_endian_put_16(uint8_t *at, uint16_t n) {
  n = __builtin_bswap16(n);
  memcpy(at, &n, 2);
  return at + 2;
}

/* A block of this tag may be without words. */
static inline bool is_tag_of_atom(unsigned tag) {
  switch (tag) {
  case TAG_CLOSURE:
  case TAG_OBJECT:
  case TAG_INFIX:
  case TAG_ABSTRACT:
  case TAG_DOUBLE:
  case TAG_CUSTOM: return false;
  default: return true;
  }
}

/* SIZES: words that a block takes in OCaml's heap. */
static inline uint64_t words64_of_string(uint64_t bytes) { return 2 + bytes / 8; }
static inline uint64_t words32_of_string(uint64_t bytes) { return 2 + bytes / 4; }
static inline uint64_t words64_of_custom(uint64_t bytes) { return 2 + bytes / 8 + (bytes % 8 != 0); }
static inline uint64_t words32_of_custom(uint64_t bytes) { return 2 + bytes / 4 + (bytes % 4 != 0); }

/* Reads a header from the first bytes of a message, all of HEADER_BIG or what there is. Returns
 * NULL, or what is wrong with it. */
const char *header_read(struct message_header *header, const uint8_t *bytes, size_t size);

/* How many bytes the header of a message with these sizes has, and writing it. */
size_t header_size(const struct message_header *header);
void header_write(const struct message_header *header, uint8_t *bytes);

#endif
/* SPDX-License-Identifier: MIT */
