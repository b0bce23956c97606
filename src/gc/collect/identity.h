/* Identity hashes: numbers of blocks that stay the same while the blocks move.
 *
 * A block that was never asked for its number costs nothing. The blocks that were are in two
 * tables, of young and of old blocks, each with its number. A table is an array of entries and an
 * open hash table of their places, by address, at most half full. So the addresses can change in
 * place, and the hash table is then filled anew without memory.
 *
 * - A minor collection moves the entries of surviving young blocks to the old table, and forgets
 *   the others. ROOM: the old table always has room for all young entries.
 * - When marking has ended, entries of unmarked blocks go (CLEANING of weak.h), and a table that is
 *   nearly empty gets smaller if there is memory for that.
 * - A compaction updates the addresses, as a row of visitors.h.
 *
 * The tables change under the lock, between two safepoints of a domain, or while the world is
 * stopped. */
#ifndef GC_COLLECT_IDENTITY_H
#define GC_COLLECT_IDENTITY_H

#include "base/lock.h"
#include "gc/store/layout.h"

struct wn_heap;

struct identity {
  wn_value block;
  uint64_t hash;
};

struct identity_table {
  struct identity *items;
  uint32_t *slots; /* twice as many as items: the place of an item + 1; 0: free */
  size_t count, capacity;
};

struct identities {
  struct lock lock; /* rank IDENTITIES */
  struct identity_table old, young;
  uint64_t last; /* how many numbers there were */
};

/* The block's number, which it gets now if it has none. 0 if there is no memory. */
uint64_t identities_hash(struct wn_heap *heap, wn_value block);

/* ---- the world is stopped ---- */

/* Called after the evacuation, before minor heaps are emptied. */
void identities_after_minor(struct wn_heap *heap);
void identities_clean(struct wn_heap *heap);
/* Called when `identities_each` has changed addresses. */
void identities_rehash(struct wn_heap *heap);
void identities_each(struct wn_heap *heap, wn_visit *visit, void *visitor);
/* False if an entry would not be found, or ROOM does not hold. */
bool identities_check(struct wn_heap *heap);

void identities_destroy(struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
