/* The tables of identity hashes. */
#include "gc/collect/identity.h"

#include "base/hash.h"
#include "base/metadata.h"
#include "gc/collect/collector.h"
#include <string.h>

enum { FIRST = TINY ? 4 : 256 };
#define MOST ((size_t)1 << 31)

/* ---- a table ---- */

static size_t mask(const struct identity_table *table) { return 2 * table->capacity - 1; }

static size_t identity_home(const struct identity_table *table, wn_value block) {
  return (size_t)hash_mix(block) & mask(table);
}

static void identity_put(struct identity_table *table, struct identity identity) {
  ASSERT(table->count < table->capacity); /* ROOM */
  size_t at = identity_home(table, identity.block);
  while (table->slots[at]) at = (at + 1) & mask(table);
  table->items[table->count++] = identity;
  table->slots[at] = (uint32_t)table->count;
}

static const struct identity *identity_find(const struct identity_table *table, wn_value block) {
  if (!table->count) return NULL;
  for (size_t at = identity_home(table, block); table->slots[at]; at = (at + 1) & mask(table))
    if (table->items[table->slots[at] - 1].block == block) return &table->items[table->slots[at] - 1];
  return NULL;
}

static void identity_release(struct identity_table *table) {
  metadata_unmap(table->items, table->capacity * sizeof *table->items);
  metadata_unmap(table->slots, 2 * table->capacity * sizeof *table->slots);
}

/* Gives the table another capacity, a power of two. False if there is no memory. */
static bool identity_resize(struct identity_table *table, size_t capacity) {
  struct identity_table made = {.items = metadata_map(capacity * sizeof *made.items),
                                .slots = metadata_map(2 * capacity * sizeof *made.slots),
                                .capacity = capacity};
  if (!made.items || !made.slots) {
    identity_release(&made);
    return false;
  }
  for (size_t i = 0; i < table->count; i++) identity_put(&made, table->items[i]);
  identity_release(table);
  *table = made;
  return true;
}

static bool identity_has_room(struct identity_table *table, size_t wanted) {
  size_t capacity = table->capacity ? table->capacity : FIRST;
  while (capacity < wanted) capacity *= 2;
  return capacity == table->capacity || (capacity <= MOST && identity_resize(table, capacity));
}

static void rehash(struct identity_table *table) {
  size_t count = table->count;
  memset(table->slots, 0, 2 * table->capacity * sizeof *table->slots);
  table->count = 0;
  for (size_t i = 0; i < count; i++) identity_put(table, table->items[i]);
}

/* Forgets all, in a time that does not depend on the capacity. Slots of others on the way may be
 * free already. */
static void identity_empty(struct identity_table *table) {
  for (size_t i = 0; i < table->count; i++) {
    size_t at = identity_home(table, table->items[i].block);
    while (table->slots[at] != i + 1) at = (at + 1) & mask(table);
    table->slots[at] = 0;
  }
  if (table->count) memset(table->items, 0, table->count * sizeof *table->items);
  table->count = 0;
}

static bool identity_is_whole(const struct identity_table *table) {
  for (size_t i = 0; i < table->count; i++)
    if (identity_find(table, table->items[i].block) != &table->items[i]) return false;
  return table->count <= table->capacity;
}

/* ---- shared ---- */

/* The numbers are a bijection of 1, 2, 3 ..., so no two blocks have the same; 0 stands for none. */
static uint64_t next_hash(struct wn_heap *heap) {
  uint64_t hash;
  do hash = hash_mix(heap->seed + ++heap->collector->identities.last);
  while (!hash);
  return hash;
}

static uint64_t identity_add(struct wn_heap *heap, struct identity_table *table, wn_value block) {
  struct identities *of = &heap->collector->identities;
  if (!identity_has_room(&of->old, of->old.count + of->young.count + 1) ||
      !identity_has_room(table, table->count + 1))
    return 0;
  uint64_t hash = next_hash(heap);
  identity_put(table, (struct identity){block, hash});
  return hash;
}

uint64_t identities_hash(struct wn_heap *heap, wn_value block) {
  struct identities *of = &heap->collector->identities;
  lock_acquire(&of->lock, LOCK_RANK_IDENTITIES);
  struct identity_table *table = heap_is_young(heap, block) ? &of->young : &of->old;
  const struct identity *found = identity_find(table, block);
  uint64_t hash = found ? found->hash : identity_add(heap, table, block);
  lock_release(&of->lock, LOCK_RANK_IDENTITIES);
  return hash;
}

void identities_after_minor(struct wn_heap *heap) {
  struct identities *of = &heap->collector->identities;
  for (size_t i = 0; i < of->young.count; i++) {
    wn_value fate = heap_young_fate(heap, of->young.items[i].block);
    if (fate) identity_put(&of->old, (struct identity){fate, of->young.items[i].hash});
  }
  identity_empty(&of->young);
}

void identities_clean(struct wn_heap *heap) {
  struct identity_table *old = &heap->collector->identities.old;
  size_t kept = 0;
  for (size_t i = 0; i < old->count; i++)
    if (header_colour(header_of(old->items[i].block)) == heap_live_colour(heap))
      old->items[kept++] = old->items[i];
  if (kept == old->count) return;
  memset(old->items + kept, 0, (old->count - kept) * sizeof *old->items);
  old->count = kept;
  rehash(old);
  if (old->capacity > FIRST && kept < old->capacity / 8) identity_resize(old, old->capacity / 4);
}

void identities_rehash(struct wn_heap *heap) {
  if (heap->collector->identities.old.count) rehash(&heap->collector->identities.old);
}

static void each(const struct identity_table *table, wn_visit *visit, void *visitor) {
  for (size_t i = 0; i < table->count; i++) visit(visitor, &table->items[i].block);
}

void identities_each(struct wn_heap *heap, wn_visit *visit, void *visitor) {
  each(&heap->collector->identities.old, visit, visitor);
  each(&heap->collector->identities.young, visit, visitor);
}

bool identities_check(struct wn_heap *heap) {
  const struct identities *of = &heap->collector->identities;
  for (size_t i = 0; i < of->young.count; i++)
    if (!heap_is_young(heap, of->young.items[i].block)) return false;
  return identity_is_whole(&of->old) && identity_is_whole(&of->young) &&
         of->old.count + of->young.count <= of->old.capacity;
}

void identities_destroy(struct wn_heap *heap) {
  identity_release(&heap->collector->identities.old);
  identity_release(&heap->collector->identities.young);
}
/* SPDX-License-Identifier: MIT */
