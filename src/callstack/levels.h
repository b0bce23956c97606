/* A hash table that only grows, is read and written without a lock, and never moves what it holds.
 *
 * A slot is two words, a key and a value; the key is 0 while the slot is free. The table consists
 * of levels, each twice as large as the one before. In each level a key has a window:
 * `LEVELS_WINDOW` slots from the place that its hash gives. An insertion takes the first free slot
 * of the windows, in the order of the levels. So a search may stop at the first free slot that it
 * meets (invariant FIRST-FREE), nothing is ever rehashed, and a slot's index, counted through all
 * levels, names its key for ever. Keys that differ in their highest bit alone have the same window,
 * and a table can get very many of them (dead addresses, pcs.h): where they fill half of a window
 * or more, the key has another window in the same level, whose place depends on how many of them
 * were met. A full window never changes, so each search meets the same windows. Two threads that
 * insert one key race for the same free slot by compare-and-exchange, and both end with that slot.
 * A signal handler may interrupt an insertion and insert, too: no thread waits for another.
 *
 * No key has index 0. Memory is mapped level by level, and touched only where keys are. */
#ifndef CALLSTACK_LEVELS_H
#define CALLSTACK_LEVELS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LEVELS_MOST = 28, LEVELS_WINDOW = 8 };

struct slot {
  /* Set once, from 0, by the thread that inserts the key; read with acquire. The owner of the table
   * may set or clear flag bits in it later. */
  _Atomic(uint64_t) key;
  /* 0 until a user of the table sets it, with release: every thread would store the same value
   * (pcs.h). */
  _Atomic(uint64_t) value;
};

struct levels {
  /* Set by levels_create; constant afterwards. */
  unsigned first_bits;
  unsigned count_most;
  /* Published with release once, by the first thread that needs the level. */
  _Atomic(struct slot *) level[LEVELS_MOST];
  /* Statistics. */
  _Atomic(uint32_t) used;
};

/* A table for at most `slots_most` keys (rounded down to what whole levels hold). False if memory
 * is exhausted. */
bool levels_create(struct levels *levels, unsigned first_bits, uint32_t slots_most);
void levels_destroy(struct levels *levels);

/* The slot of a key, inserted if need be, and its index. NULL if the table is full or memory is
 * exhausted. */
struct slot *levels_insert(struct levels *levels, uint64_t key, uint32_t *index);

/* The index of a slot of this table. */
uint32_t levels_index(const struct levels *levels, const struct slot *slot);

static inline size_t levels_size(const struct levels *levels, unsigned level) {
  return (size_t)1 << (levels->first_bits + level);
}

static inline uint64_t levels_hash(uint64_t key) { return key * 0x9e3779b97f4a7c15u; }

/* As levels_find, for a key that is not in the first slot of its first window. */
struct slot *levels_find_slow(const struct levels *levels, uint64_t key, uint32_t *index);

/* The slot of a key and its index; NULL if the key is not in the table. */
static inline struct slot *levels_find(const struct levels *levels, uint64_t key, uint32_t *index) {
  size_t at = (size_t)(levels_hash(key) >> (64 - levels->first_bits));
  struct slot *slot = atomic_load_explicit(&levels->level[0], memory_order_acquire) + at;
  *index = (uint32_t)at;
  if (__builtin_expect(atomic_load_explicit(&slot->key, memory_order_acquire) == key, 1)) return slot;
  return levels_find_slow(levels, key, index);
}

/* The slot with this index, NULL if the index was never given out. */
static inline struct slot *levels_at(const struct levels *levels, uint32_t index) {
  unsigned level = 31u - (unsigned)__builtin_clz((index >> levels->first_bits) + 1);
  if (level >= levels->count_most) return NULL;
  struct slot *slots = atomic_load_explicit(&levels->level[level], memory_order_acquire);
  size_t first = (((size_t)1 << level) - 1) << levels->first_bits;
  return slots ? &slots[index - first] : NULL;
}

#endif
/* SPDX-License-Identifier: MIT */
