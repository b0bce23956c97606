/* Pinned blocks: blocks that compaction does not move.
 *
 * A table has the address of each pinned block, and how often it is pinned. Only old blocks are
 * pinned: a young one is promoted first, and so a minor collection does not move them either. A
 * pinned block is a root.
 *
 * The table changes under the lock, between two safepoints of a domain. So no domain holds the lock
 * while the world is stopped, and collections read the table without it. tests/models/pins.pml
 * explores it. */
#ifndef GC_COLLECT_PINS_H
#define GC_COLLECT_PINS_H

#include "base/lock.h"
#include "gc/store/layout.h"

struct wn_heap;

struct pin {
  wn_value block; /* 0: a free slot */
  size_t count;
};

/* An open hash table, at most half full. */
struct pins {
  struct lock lock; /* rank PINS */
  struct pin *slots;
  size_t count, capacity;
};

/* False if there is no memory. */
bool pins_add(struct wn_heap *heap, wn_value block);
/* False if the block is not pinned. */
bool pins_remove(struct wn_heap *heap, wn_value block);

/* The world is stopped: */
bool pins_has(const struct wn_heap *heap, wn_value block);
void pins_each(struct wn_heap *heap, wn_visit *visit, void *visitor);

void pins_destroy(struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
