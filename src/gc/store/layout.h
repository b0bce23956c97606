/* How blocks lie in memory.
 *
 * A header is words << 10 | tag << 2 | colour, and TRACKED above. In the minor heap the two low bits
 * are 0, or 1 once the block was promoted:
 *
 *   young      words << 10 | tag << 2 | 0
 *   claimed    1                         a thread is copying it
 *   forwarded  new address | 1           (addresses are multiples of 8)
 *
 * In the major heap they are a colour: COLOUR_FREE, or one of two that change their roles with each
 * cycle (major.h). A free run's header holds its length, header included, and its next word links
 * it. While a compaction runs (compact.h), a block that it has moved has
 *
 *   moved      new address | 3
 *
 * TRACKED, the top bit, says that the sampling engine has an entry of the block, or had one: the
 * sweep reports such a block to it. Only old blocks have the bit. It is set before a block of the major
 * heap is published, and on a copy while the world is stopped after an evacuation. In both cases
 * the block has the live colour, so no marker writes its header, as markers do without an exchange.
 * Memory outside of a block may be sampled at any later time, too. So its bit, CUSTOM_TRACKED, is in
 * the block's `external_bytes`, of young blocks as well. */
#ifndef GC_STORE_LAYOUT_H
#define GC_STORE_LAYOUT_H

#include "base/poison.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <winnow/heap.h>

enum { COLOUR_FREE = 0, COLOUR_A = 1, COLOUR_B = 2, COLOUR_BITS = 3 };
enum { FORWARD_BIT = 1, CLAIMED = 1, MOVED = 3 };

/* Memory that blocks have left is filled with the byte STALE where checks are on, and is poisoned
 * (poison.h), all but the first LINK_WORDS words of each free run. */
enum { STALE = 0x5a, LINK_WORDS = 3 };
#define STALE_WORD ((wn_value)0x5a5a5a5a5a5a5a5a)

static inline _Atomic(wn_value) *header_at(wn_value block) { return (_Atomic(wn_value) *)block - 1; }
static inline wn_value header_of(wn_value block) {
  return atomic_load_explicit(header_at(block), memory_order_relaxed);
}

#define TRACKED ((wn_value)1 << 63)

static inline void fill_stale(void *at, size_t bytes) {
  if (CHECKS) memset(at, STALE, bytes);
}

/* Called before the links of a free run are written. */
static inline void poison_run(wn_value *at, size_t words) {
  size_t links = words < LINK_WORDS ? words : LINK_WORDS;
  unpoison(at, links * sizeof *at);
  poison(at + links, (words - links) * sizeof *at);
}

static inline size_t header_words(wn_value header) { return header << 1 >> 11; }
static inline unsigned header_tag(wn_value header) { return (unsigned)(header >> 2) & 255u; }
static inline unsigned header_colour(wn_value header) { return (unsigned)header & COLOUR_BITS; }
static inline wn_value header_make(size_t words, unsigned tag, unsigned colour) {
  return (wn_value)words << 10 | (wn_value)tag << 2 | colour;
}
static inline bool header_is_scanned(wn_value header) { return header_tag(header) <= WN_TAG_SCANNED_MAX; }

static inline wn_value field_load(const wn_value *field) {
  return atomic_load_explicit((_Atomic(wn_value) *)field, memory_order_acquire);
}

/* How many of the block's first words are values, which a collection follows: `fields` are its own,
 * or those of its copy. */
static inline size_t block_scanned(wn_value header, const wn_value *fields) {
  if (header_tag(header) < WN_TAG_MIXED) return header_words(header); /* one comparison for most */
  if (!header_is_scanned(header)) return 0;
  return header_tag(header) == WN_TAG_MIXED ? (size_t)(field_load(fields) >> 1) + 1 : header_words(header);
}

static inline bool header_is_moved(wn_value header) { return (header & MOVED) == MOVED; }
static inline wn_value header_moved_to(wn_value header) { return header & ~(wn_value)MOVED; }

/* Words that a block takes, with its header. */
static inline size_t header_extent(wn_value header) { return header_words(header) + 1; }

static inline void field_store(wn_value *field, wn_value value) {
  atomic_store_explicit((_Atomic(wn_value) *)field, value, memory_order_release);
}

/* The first two words of a custom block; the program's bytes follow. Any domain may exchange
 * `external_bytes`, and set CUSTOM_TRACKED there, while it has the block; the thread that releases
 * the block reads it last. */
struct custom {
  const struct wn_custom_ops *ops;
  _Atomic(size_t) external_bytes;
};
enum { CUSTOM_WORDS = sizeof(struct custom) / sizeof(wn_value) };

#define CUSTOM_TRACKED ((size_t)1 << 63)
#define EXTERNAL_MOST  (CUSTOM_TRACKED - 1)

static inline size_t custom_external(const struct custom *custom) {
  return atomic_load_explicit(&custom->external_bytes, memory_order_relaxed) & EXTERNAL_MOST;
}
static inline bool custom_is_tracked(const struct custom *custom) {
  return atomic_load_explicit(&custom->external_bytes, memory_order_relaxed) & CUSTOM_TRACKED;
}

static inline bool block_is_tracked(wn_value block) {
  wn_value header = header_of(block);
  return header & TRACKED ||
         (header_tag(header) == WN_TAG_CUSTOM && custom_is_tracked((const struct custom *)block));
}

#endif
/* SPDX-License-Identifier: MIT */
