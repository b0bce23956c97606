/* The store: the memory of a heap's major heap. It knows no domain, no root and no phase: its
 * callers decide when to mark, sweep and stop the world. */
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

/* Makes an empty store; its memory is zero before. False if there are no addresses. `events`
 * outlives the store. */
bool store_create(struct store *store, const struct events *events);
void store_destroy(struct store *store);

static inline unsigned store_live_colour(const struct store *store) {
  return atomic_load_explicit(&store->live_colour, memory_order_relaxed);
}

/* Counts the live words of a pool, chunk or large block that was swept. */
void store_swept(struct store *store, size_t live_words);

/* Called for a dead custom block: calls its release function. Any thread may call it. */
void store_release_custom(struct store *store, wn_value block);

/* Called while the heap is being closed: releases all custom blocks. */
void store_release_customs(struct store *store);

#endif
/* SPDX-License-Identifier: MIT */
