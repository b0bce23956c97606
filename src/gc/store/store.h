/* The store: the memory of a heap's major heap. It knows no domain, no root and no phase: its
 * callers decide when to mark, sweep and stop the world. */
#ifndef GC_STORE_STORE_H
#define GC_STORE_STORE_H

#include "gc/store/chunk.h"
#include "gc/store/medium.h"
#include "gc/store/pool.h"

struct store {
  /* Called for a dead block that is TRACKED (layout.h), or its memory outside, before its memory is
   * used again; by any thread. Constant. */
  void (*tracked_died)(struct store *store, wn_value block);
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

/* Called for a dead block of the major heap before its memory is free: reports a tracked block, and
 * releases a custom one. User code runs there. Any thread may call it. */
void store_bury_slow(struct store *store, wn_value block);
static inline bool store_has_burial(wn_value header) {
  return header_tag(header) == WN_TAG_CUSTOM || header & TRACKED;
}
static inline void store_bury(struct store *store, wn_value *at, wn_value header) {
  if (__builtin_expect(store_has_burial(header), 0)) store_bury_slow(store, (wn_value)(at + 1));
}

/* Calls `f` for the header of each block, dead ones included. The world is stopped, helpers are
 * paused, and current pools are flushed. */
void store_each_block(struct store *store, block_function *f, void *context);

/* Called while the heap is being closed: releases all custom blocks. */
void store_release_customs(struct store *store);

#endif
/* SPDX-License-Identifier: MIT */
