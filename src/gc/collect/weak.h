/* Weak blocks: weak arrays and ephemerons.
 *
 * A weak block has the tag WN_TAG_WEAK, so it is not scanned. Its first word is the data, the other
 * words are the keys. A word is a value, or EMPTY. A weak array is an ephemeron that never has
 * data. Keys keep nothing alive. The data are alive if the weak block and all keys that are not
 * empty are, even if the keys are reachable through the data alone.
 *
 * ALL OF THEM. Weak blocks are born in the major heap, and the table `blocks` has each from its
 * birth until marking finds it dead. It is written under `lock`, or while the world is stopped.
 *
 * MINOR COLLECTIONS. A key that is young is not kept. The domain that stored it noted the place in
 * its `weak_stores`; after the evacuation the places get the new addresses, or become EMPTY. Data
 * that are young are kept, as the fields of other old blocks are: their places are in the
 * remembered set. If a key has died, the data become EMPTY too. EVERY: if `weak_stores` cannot
 * grow, the next minor collection looks at all weak blocks.
 *
 * MARKING. A value that the program reads from a weak block while marking goes on is marked, since
 * it may have been unreachable when the cycle began (SNAPSHOT of major.h). A store needs no
 * barrier: what it overwrites was not read, or is marked. When nothing is left to mark, the data of
 * ephemerons whose keys are marked are marked in turn (ephemeron.h), until no more are found. Then
 * what finalisers keep is marked, and after that the same again.
 *
 * CLEANING. At the end of marking, while the world is stopped, keys that are not marked become
 * EMPTY, and with them the data. Sweeping begins after that, so no weak block ever leads to a freed
 * block, and all weak blocks lose a value at the same moment. tests/models/weak.pml explores
 * MARKING and CLEANING. */
#ifndef GC_COLLECT_WEAK_H
#define GC_COLLECT_WEAK_H

#include "base/lock.h"
#include "gc/collect/ephemeron.h"
#include "gc/store/layout.h"
#include <winnow/heap.h>

#define WEAK_EMPTY ((wn_value)0)

enum { WEAK_DATA, WEAK_KEYS }; /* the place of the data, and of the first key */

struct wn_domain;
struct wn_heap;

struct weak {
  struct lock lock; /* rank WEAK */
  wn_value *blocks;
  size_t count, capacity;
  struct ephemerons ephemerons;
};

/* The places of young keys that a domain has stored since the last minor collection. */
struct weak_store {
  wn_value *block;
  size_t place;
};
struct weak_stores {
  struct weak_store *items;
  size_t count, capacity;
  bool every; /* EVERY */
};

static inline bool weak_is_block(wn_value value) { return value != WEAK_EMPTY && !(value & 1); }
static inline size_t weak_keys(wn_value block) { return header_words(header_of(block)) - WEAK_KEYS; }

/* Puts a new weak block into the table. False if there is no memory. */
bool weak_add(struct wn_heap *heap, wn_value block);

/* Reads a word of a weak block for the program: what it returns is kept by the current cycle. */
wn_value weak_load(struct wn_domain *domain, wn_value block, size_t place);

/* Stores a value, or EMPTY. The call does not collect. */
void weak_put(struct wn_domain *domain, wn_value block, size_t place, wn_value value);

/* Calls `visit` for the data of each weak block that has some: for a minor collection without a
 * remembered set. The world is stopped. */
void weak_each_data(struct wn_heap *heap, wn_visit *visit, void *visitor);

/* Visits the table's blocks, which are weak there. The world is stopped. */
void weak_each_block(struct wn_heap *heap, wn_visit *visit, void *visitor);

/* MINOR COLLECTIONS: called after the evacuation, before the minor heaps are emptied. */
void weak_after_minor(struct wn_heap *heap);

/* CLEANING. */
void weak_clean(struct wn_heap *heap);

/* Whether the domain has stored young keys since the last minor collection. */
bool weak_has_young(const struct wn_domain *domain);

void weak_destroy_domain(struct wn_domain *domain);
void weak_destroy(struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
