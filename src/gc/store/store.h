/* The store: where the blocks of a heap's major heap live, and what its parts share. It knows no
 * domain, no root and no phase: its callers decide when to mark, sweep and stop the world. */
#ifndef GC_STORE_STORE_H
#define GC_STORE_STORE_H

#include "gc/store/chunk.h"
#include "gc/store/medium.h"
#include "gc/store/pool.h"

struct store {
  struct chunks chunks;
  struct pools pools;
  struct medium medium;

  /* The colour of marked blocks and of new ones; blocks of the other colour are not known to be
   * live. Written while the world is stopped; read by any thread. */
  _Atomic(unsigned) live_colour;
  _Atomic(size_t) swept_live; /* words that this sweep has found live so far */
  _Atomic(size_t) external;   /* bytes outside the heap that custom blocks keep */
};

/* False if there are no addresses. `events` outlives the store. The other members are zero. */
bool store_create(struct store *store, const struct events *events);
void store_destroy(struct store *store);

static inline unsigned store_live_colour(const struct store *store) {
  return atomic_load_explicit(&store->live_colour, memory_order_relaxed);
}

/* A piece was swept, and has so many live words. */
void store_swept(struct store *store, size_t live_words);

/* A custom block is dead: calls its release function. Any thread. */
void store_release_custom(struct store *store, wn_value block);

/* All custom blocks are dead: the heap is being closed. */
void store_release_customs(struct store *store);

#endif
/* SPDX-License-Identifier: MIT */
