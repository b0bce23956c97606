/* Values of the collected heap, and handles that root them.
 *
 *   WN_SCOPE(d);
 *   wn_ref one = wn_root(d, wn_int(1));
 *   wn_ref pair = wn_pair(d, 0, one, wn_root(d, wn_int(2)));
 *   intptr_t first = wn_to_int(wn_field(pair, 0));
 *
 * A block is a header word and its fields. The header holds the number of fields, a tag, and two
 * bits of the collector. The raw value of a block is stale after any call that may collect; a
 * handle is not. */
#ifndef WINNOW_VALUE_H
#define WINNOW_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <winnow/domain.h>
#include <winnow/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Tags, which are those of OCaml. Blocks with a tag up to WN_TAG_SCANNED_MAX hold values; the
 * others hold bytes that the collector does not look into, except the first two words of a custom
 * block. A mixed block holds both: its field 0 is wn_int(n), its fields 1 to n are values, and bytes
 * follow, such as the code and the constants of a closure. Field 0 never changes. */
enum {
  WN_TAG_MIXED = 247, /* that of OCaml's closures */
  WN_TAG_SCANNED_MAX = 250,
  WN_TAG_WEAK = 251, /* of weak.h; functions of that header alone look into such blocks */
  WN_TAG_RAW = 252,
  WN_TAG_DOUBLE = 253,       /* one double */
  WN_TAG_DOUBLE_ARRAY = 254, /* a double in each word */
  WN_TAG_CUSTOM = 255,
};

/* The largest block, in words without the header. */
#define WN_MAX_WORDS ((size_t)1 << 40)

/* Blocks up to this size are born in the minor heap. */
#define WN_MAX_YOUNG_WORDS ((size_t)256)

/* An integer is an odd word. Only the lowest bit matters to the collector. A language may use odd
 * words for characters, constants or addresses outside the heap too, with its own functions in
 * place of these. */
static inline wn_value wn_int(intptr_t n) { return (wn_value)((uintptr_t)n << 1 | 1u); }
static inline intptr_t wn_to_int(wn_value v) { return (intptr_t)v >> 1; }
static inline bool wn_is_int(wn_value v) { return (v & 1) != 0; }

/* The header of a block: words << 10 | tag << 2 | two bits of the collector. These, and the top bit,
 * which is the collector's too, are 0 in the minor heap. */
#define WN_HEADER(words, tag) ((wn_value)(words) << 10 | (wn_value)(tag) << 2)
#define WN_HEADER_COLLECTOR   ((wn_value)1 << 63 | 3) /* the collector's bits, for code that compares headers */
static inline const wn_value *wn_header_of(wn_value block) { return (const wn_value *)block - 1; }

/* The size of a block in words, without the header, and its tag. Undefined for an integer. */
static inline size_t wn_words(wn_value block) {
  return __atomic_load_n(wn_header_of(block), __ATOMIC_RELAXED) << 1 >> 11;
}
static inline unsigned wn_tag(wn_value block) {
  return (unsigned)(__atomic_load_n(wn_header_of(block), __ATOMIC_RELAXED) >> 2) & 255u;
}

/* How many of the block's first words are values: 0 for bytes. */
static inline size_t wn_scanned_words(wn_value block) {
  unsigned tag = wn_tag(block);
  if (tag > WN_TAG_SCANNED_MAX) return 0;
  return tag == WN_TAG_MIXED ? (size_t)wn_to_int(*(const wn_value *)block) + 1 : wn_words(block);
}

/* A field of a scanned block, for code that needs no handles because it calls nothing that may
 * collect. */
static inline wn_value wn_field_of(wn_value block, size_t i) {
  return __atomic_load_n((const wn_value *)block + i, __ATOMIC_ACQUIRE);
}

#ifdef __cplusplus
}
#endif
#endif
/* SPDX-License-Identifier: MIT */
