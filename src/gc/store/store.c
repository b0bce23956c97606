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

/* ---- the walk ---- */

struct walk {
  block_function *f;
  void *context;
};

static void store_visit_block(wn_value *at, void *context) {
  const struct walk *walk = context;
  if (header_colour(*at) != COLOUR_FREE) walk->f(at, walk->context);
}

static void visit_large(struct large *large, void *context) { store_visit_block(&large->header, context); }

static void visit_pool(struct pool *pool, void *context) {
  const struct walk *walk = context;
  pool_each_block(pool, walk->f, walk->context);
}

void store_each_block(struct store *store, block_function *f, void *context) {
  struct walk walk = {f, context};
  pools_each(store, visit_pool, &walk);
  medium_each(store, store_visit_block, visit_large, &walk);
}

/* ---- closing ---- */

static void release_block(wn_value *at, void *context) {
  if (header_tag(*at) == WN_TAG_CUSTOM) store_release_custom(context, (wn_value)(at + 1));
}

void store_release_customs(struct store *store) { store_each_block(store, release_block, store); }
/* SPDX-License-Identifier: MIT */
