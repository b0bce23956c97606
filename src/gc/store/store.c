/* Opening and closing the store, and custom blocks that die. */
#include "gc/store/store.h"

#include "gc/events/hooks.h"

bool store_create(struct store *store, const struct events *events) {
  pools_prepare();
  store->chunks.events = events;
  store->chunks.limit_bytes = SIZE_MAX;
  atomic_store(&store->live_colour, COLOUR_A);
  return chunks_create(&store->chunks) && medium_create(&store->medium);
}

void store_destroy(struct store *store) {
  medium_destroy(store);
  chunks_destroy(&store->chunks);
}

void store_swept(struct store *store, size_t live_words) {
  atomic_fetch_add_explicit(&store->swept_live, live_words, memory_order_relaxed);
}

void store_release_custom(struct store *store, wn_value block) {
  struct custom *custom = (struct custom *)block;
  atomic_fetch_sub(&store->external, custom_external(custom));
  hooks_running++;
  if (custom->ops->release) custom->ops->release(custom + 1);
  hooks_running--;
}

void store_bury_slow(struct store *store, wn_value block) {
  if (block_is_tracked(block)) store->tracked_died(store, block);
  if (header_tag(header_of(block)) == WN_TAG_CUSTOM) store_release_custom(store, block);
}

static void release_block(wn_value *at, void *context) {
  if (header_colour(*at) != COLOUR_FREE && header_tag(*at) == WN_TAG_CUSTOM)
    store_release_custom(context, (wn_value)(at + 1));
}

static void release_large(struct large *large, void *context) { release_block(&large->header, context); }

static void release_pool(struct pool *pool, void *context) {
  for (wn_value *at = pool_first(pool); at < pool_end(pool);) {
    release_block(at, context);
    at += header_colour(*at) == COLOUR_FREE ? header_extent(*at) : class_words[pool->class];
  }
}

void store_release_customs(struct store *store) {
  pools_each(store, release_pool, store);
  medium_each(store, release_block, release_large, store);
}
/* SPDX-License-Identifier: MIT */
