/* The table of weak blocks, young keys, and cleaning. */
#include "gc/collect/weak.h"

#include "base/metadata.h"
#include "gc/collect/collector.h"
#include "gc/domains/remembered.h"
#include <string.h>

enum { FIRST = TINY ? 4 : 1024 };

/* A larger copy of an array; NULL if there is no memory. */
static void *weak_grow(void *items, size_t count, size_t *capacity, size_t size) {
  size_t larger = *capacity ? 2 * *capacity : FIRST;
  void *grown = metadata_map(larger * size);
  if (!grown) return NULL;
  if (count) memcpy(grown, items, count * size);
  metadata_unmap(items, *capacity * size);
  *capacity = larger;
  return grown;
}

/* ---- all of them ---- */

static bool weak_append(struct weak *weak, wn_value block) {
  if (weak->count == weak->capacity) {
    wn_value *grown = weak_grow(weak->blocks, weak->count, &weak->capacity, sizeof *weak->blocks);
    if (!grown) return false;
    weak->blocks = grown;
  }
  weak->blocks[weak->count++] = block;
  return true;
}

/* ---- young keys ---- */

static void note_store(struct wn_domain *domain, wn_value block, size_t place) {
  struct weak_stores *stores = &domain->collector->weak_stores;
  if (stores->every) return;
  if (stores->count == stores->capacity) {
    struct weak_store *grown =
        weak_grow(stores->items, stores->count, &stores->capacity, sizeof *stores->items);
    if (!grown) {
      stores->every = true;
      return;
    }
    stores->items = grown;
    event_table_grows(&domain->heap->events, "stores into weak blocks", stores->capacity);
  }
  stores->items[stores->count++] = (struct weak_store){(wn_value *)block, place};
}

/* Follows a key to where it has moved, or empties it, and the data with it. */
static void settle_key(struct wn_heap *heap, wn_value *block, size_t place) {
  wn_value value = field_load(&block[place]);
  if (!heap_is_young(heap, value)) return;
  wn_value moved = heap_young_fate(heap, value);
  field_store(&block[place], moved); /* 0 is EMPTY */
  if (!moved) field_store(&block[WEAK_DATA], WEAK_EMPTY);
}

static void settle_domain(struct wn_heap *heap, struct weak_stores *stores, bool every) {
  for (size_t i = 0; !every && i < stores->count; i++)
    settle_key(heap, stores->items[i].block, stores->items[i].place);
  stores->count = 0;
  stores->every = false;
}

static void settle_every(struct wn_heap *heap) {
  const struct weak *weak = &heap->collector->weak;
  for (size_t i = 0; i < weak->count; i++)
    for (size_t key = 0; key < weak_keys(weak->blocks[i]); key++)
      settle_key(heap, (wn_value *)weak->blocks[i], WEAK_KEYS + key);
}

/* ---- cleaning ---- */

static bool weak_is_marked(const struct wn_heap *heap, wn_value block) {
  return header_colour(header_of(block)) == heap_live_colour(heap);
}

static void clean_weak(struct wn_heap *heap, wn_value *block) {
  bool dead = false;
  for (size_t key = WEAK_KEYS; key < WEAK_KEYS + weak_keys((wn_value)block); key++) {
    if (!weak_is_block(block[key]) || weak_is_marked(heap, block[key])) continue;
    field_store(&block[key], WEAK_EMPTY);
    dead = true;
  }
  if (dead) field_store(&block[WEAK_DATA], WEAK_EMPTY);
  ASSERT(!weak_is_block(block[WEAK_DATA]) || weak_is_marked(heap, block[WEAK_DATA]));
}

/* ---- shared ---- */

bool weak_add(struct wn_heap *heap, wn_value block) {
  struct weak *weak = &heap->collector->weak;
  lock_acquire(&weak->lock, LOCK_RANK_WEAK);
  size_t before = weak->capacity;
  bool added = weak_append(weak, block);
  size_t capacity = weak->capacity;
  lock_release(&weak->lock, LOCK_RANK_WEAK);
  if (capacity != before) event_table_grows(&heap->events, "weak blocks", capacity);
  return added;
}

wn_value weak_load(struct wn_domain *domain, wn_value block, size_t place) {
  struct wn_heap *heap = domain->heap;
  wn_value value = field_load((wn_value *)block + place);
  if (weak_is_block(value) && heap_phase(heap) == PHASE_MARK) mark_value(heap, domain_marker(domain), value);
  return value;
}

void weak_put(struct wn_domain *domain, wn_value block, size_t place, wn_value value) {
  wn_value *word = (wn_value *)block + place;
  if (heap_is_young(domain->heap, value)) {
    if (place == WEAK_DATA)
      remembered_add(&domain->remembered, word);
    else
      note_store(domain, block, place);
  }
  field_store(word, value);
}

void weak_each_data(struct wn_heap *heap, wn_visit *visit, void *visitor) {
  const struct weak *weak = &heap->collector->weak;
  for (size_t i = 0; i < weak->count; i++) {
    wn_value *data = (wn_value *)weak->blocks[i] + WEAK_DATA;
    if (weak_is_block(*data)) visit(visitor, data);
  }
}

void weak_each_block(struct wn_heap *heap, wn_visit *visit, void *visitor) {
  struct weak *weak = &heap->collector->weak;
  for (size_t i = 0; i < weak->count; i++) visit(visitor, &weak->blocks[i]);
}

void weak_after_minor(struct wn_heap *heap) {
  bool every = false;
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    every |= domain->collector->weak_stores.every;
  if (every) settle_every(heap);
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    settle_domain(heap, &domain->collector->weak_stores, every);
}

void weak_clean(struct wn_heap *heap) {
  struct weak *weak = &heap->collector->weak;
  size_t kept = 0;
  for (size_t i = 0; i < weak->count; i++) {
    wn_value block = weak->blocks[i];
    if (!weak_is_marked(heap, block)) continue;
    clean_weak(heap, (wn_value *)block);
    weak->blocks[kept++] = block;
  }
  weak->count = kept;
}

bool weak_has_young(const struct wn_domain *domain) {
  const struct weak_stores *stores = &domain->collector->weak_stores;
  return stores->count || stores->every;
}

void weak_destroy_domain(struct wn_domain *domain) {
  struct weak_stores *stores = &domain->collector->weak_stores;
  metadata_unmap(stores->items, stores->capacity * sizeof *stores->items);
  *stores = (struct weak_stores){0};
}

void weak_destroy(struct wn_heap *heap) {
  struct weak *weak = &heap->collector->weak;
  ephemerons_end(heap);
  metadata_unmap(weak->blocks, weak->capacity * sizeof *weak->blocks);
}
/* SPDX-License-Identifier: MIT */
