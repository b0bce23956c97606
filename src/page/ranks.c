/* Distinct keys, counted and ordered by use. */
#include "page/ranks.h"

#include "base/hash.h"
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 256 };

struct used {
  uint64_t uses;
  const struct rank_key *key;
};

static uint32_t *slot_of(const struct ranks *ranks, const struct rank_key *key) {
  uint64_t hash = 0;
  for (int i = 0; i < 4; i++) hash = hash_combine(hash, key->part[i]);
  size_t at = (size_t)hash & (ranks->slot_count - 1);
  while (ranks->slots[at] && memcmp(&ranks->keys[ranks->slots[at] - 1], key, sizeof *key))
    at = (at + 1) & (ranks->slot_count - 1);
  return &ranks->slots[at];
}

static bool fill_slots(struct ranks *ranks, size_t slot_count) {
  uint32_t *slots = calloc(slot_count, sizeof *slots);
  if (!slots) return false;
  free(ranks->slots);
  ranks->slots = slots;
  ranks->slot_count = slot_count;
  for (size_t i = 0; i < ranks->count; i++) *slot_of(ranks, &ranks->keys[i]) = (uint32_t)i + 1;
  return true;
}

static bool widen(struct ranks *ranks) {
  size_t slot_count = ranks->slot_count ? ranks->slot_count * 2 : FIRST_SLOTS;
  struct rank_key *keys = realloc(ranks->keys, slot_count / 2 * sizeof *keys);
  if (keys) ranks->keys = keys;
  uint64_t *uses = realloc(ranks->uses, slot_count / 2 * sizeof *uses);
  if (uses) ranks->uses = uses;
  if (!keys || !uses || !fill_slots(ranks, slot_count)) return false;
  ranks->capacity = slot_count / 2;
  return true;
}

static int by_use(const void *a, const void *b) {
  const struct used *left = a, *right = b;
  if (left->uses != right->uses) return left->uses > right->uses ? -1 : 1;
  for (int i = 0; i < 4; i++)
    if (left->key->part[i] != right->key->part[i]) return left->key->part[i] < right->key->part[i] ? -1 : 1;
  return 0;
}

/* ---- shared ---- */

uint32_t ranks_add(struct ranks *ranks, const struct rank_key *key) {
  if (ranks->count == ranks->capacity && !widen(ranks)) return UINT32_MAX;
  uint32_t *slot = slot_of(ranks, key);
  if (!*slot) {
    ranks->keys[ranks->count] = *key;
    ranks->uses[ranks->count++] = 0;
    *slot = (uint32_t)ranks->count;
  }
  ranks->uses[*slot - 1]++;
  return *slot - 1;
}

bool ranks_sort(struct ranks *ranks) {
  size_t count = ranks->count;
  struct used *order = malloc((count + 1) * sizeof *order);
  struct rank_key *keys = malloc((count + 1) * sizeof *keys);
  bool done = order && keys;
  if (done) {
    for (size_t i = 0; i < count; i++) order[i] = (struct used){ranks->uses[i], &ranks->keys[i]};
    qsort(order, count, sizeof *order, by_use);
    for (size_t i = 0; i < count; i++) keys[i] = *order[i].key;
    if (count) memcpy(ranks->keys, keys, count * sizeof *keys);
    for (size_t i = 0; i < count; i++) ranks->uses[i] = order[i].uses;
    done = !count || fill_slots(ranks, ranks->slot_count);
  }
  free(order);
  free(keys);
  return done;
}

uint32_t ranks_of(const struct ranks *ranks, const struct rank_key *key) { return *slot_of(ranks, key) - 1; }

void ranks_destroy(struct ranks *ranks) {
  free(ranks->keys);
  free(ranks->uses);
  free(ranks->slots);
  *ranks = (struct ranks){0};
}
/* SPDX-License-Identifier: MIT */
