/* A hash table of numbers, from malloc: open addressing, at most half full. Of an item it has the number,
 * from 1 on, and 32 bits of its hash; its user keeps the items, and says which are the same:
 *
 *   struct index_walk walk = {.hash = hash};
 *   while ((number = index_next(&table->by_name, &walk)))
 *     if (is_same(&table->items[number], item)) return number;
 *
 * Zeroed memory is an empty index. Its owner frees the slots. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { INDEX_FIRST = 64 };

struct index_slot {
  uint32_t hash, number; /* number 0: free */
};

struct index {
  struct index_slot *slots;
  size_t size, count;
};

struct index_walk {
  uint64_t hash; /* well mixed (hash.h) */
  size_t steps;
};

/* The next number that was added with this hash, or with one that has the same 32 bits; 0: there is none. */
static inline uint32_t index_next(const struct index *index, struct index_walk *walk) {
  const struct index_slot *slot;
  if (!index->size) return 0;
  do slot = &index->slots[(walk->hash + walk->steps++) & (index->size - 1)];
  while (slot->number && slot->hash != (uint32_t)walk->hash);
  return slot->number;
}

static inline void index_put(struct index *index, struct index_slot slot) {
  size_t at = slot.hash & (index->size - 1);
  while (index->slots[at].number) at = (at + 1) & (index->size - 1);
  index->slots[at] = slot;
}

/* Adds a number, which is not there yet. False without memory; then the index is as it was. */
static inline bool index_add(struct index *index, uint64_t hash, uint32_t number) {
  if (2 * (index->count + 1) > index->size) {
    struct index larger = {.size = index->size ? 2 * index->size : INDEX_FIRST, .count = index->count};
    if (!(larger.slots = calloc(larger.size, sizeof *larger.slots))) return false;
    for (size_t i = 0; i < index->size; i++)
      if (index->slots[i].number) index_put(&larger, index->slots[i]);
    free(index->slots);
    *index = larger;
  }
  index_put(index, (struct index_slot){(uint32_t)hash, number});
  index->count++;
  return true;
}
/* SPDX-License-Identifier: MIT */
