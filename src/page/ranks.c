/* Distinct keys, counted and ordered by use. */
#include "page/ranks.h"

#include "base/array.h"
#include "base/hash.h"
#include <stdlib.h>
#include <string.h>

struct used {
  uint64_t uses;
  const struct rank_key *key;
};

static uint64_t ranks_hash_of(const struct rank_key *key) {
  uint64_t hash = 0;
  for (int i = 0; i < 4; i++) hash = hash_combine(hash, key->part[i]);
  return hash;
}

/* The number of a key plus 1; 0: it was not added. */
static uint32_t ranks_find(const struct ranks *ranks, const struct rank_key *key, uint64_t hash) {
  struct index_walk walk = {.hash = hash};
  uint32_t found;
  while ((found = index_next(&ranks->by_key, &walk)))
    if (!memcmp(&ranks->keys[found - 1], key, sizeof *key)) break;
  return found;
}

static bool add_ranks(struct ranks *ranks, const struct rank_key *key, uint64_t hash) {
  size_t count = ranks->count + 1;
  if (!array_reserve(&ranks->keys, &ranks->key_capacity, count, sizeof *ranks->keys) ||
      !array_reserve(&ranks->uses, &ranks->use_capacity, count, sizeof *ranks->uses) ||
      !index_add(&ranks->by_key, hash, (uint32_t)count))
    return false;
  ranks->keys[ranks->count] = *key;
  ranks->uses[ranks->count++] = 0;
  return true;
}

/* Numbers the keys anew, in the order that they have now. */
static bool number_again(struct ranks *ranks) {
  free(ranks->by_key.slots);
  ranks->by_key = (struct index){.slots = NULL};
  for (size_t i = 0; i < ranks->count; i++)
    if (!index_add(&ranks->by_key, ranks_hash_of(&ranks->keys[i]), (uint32_t)i + 1)) return false;
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
  uint64_t hash = ranks_hash_of(key);
  uint32_t found = ranks_find(ranks, key, hash);
  if (!found && !add_ranks(ranks, key, hash)) return UINT32_MAX;
  uint32_t number = found ? found - 1 : (uint32_t)ranks->count - 1;
  ranks->uses[number]++;
  return number;
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
    done = number_again(ranks);
  }
  free(order);
  free(keys);
  return done;
}

uint32_t ranks_of(const struct ranks *ranks, const struct rank_key *key) {
  return ranks_find(ranks, key, ranks_hash_of(key)) - 1;
}

void ranks_destroy(struct ranks *ranks) {
  free(ranks->keys);
  free(ranks->uses);
  free(ranks->by_key.slots);
  *ranks = (struct ranks){0};
}
/* SPDX-License-Identifier: MIT */
