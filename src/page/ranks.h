/* Distinct keys, counted, and numbered by how often they come: the most frequent is 0. Small
 * numbers take few bytes, and deflate makes less of them yet. Keys that come equally often are in
 * their own order, so that the differences between them are small. */
#pragma once

#include "base/index.h"

struct rank_key {
  uint64_t part[4];
};

struct ranks {
  struct rank_key *keys; /* in the order of ranks once sorted; until then of their first call */
  uint64_t *uses;
  size_t count, key_capacity, use_capacity;
  struct index by_key; /* of the numbers plus 1 */
};

/* Counts a key. Returns its index, in the order of first calls; UINT32_MAX without memory. */
uint32_t ranks_add(struct ranks *ranks, const struct rank_key *key);

/* Numbers the keys by use. No key can be added afterwards. False without memory. */
bool ranks_sort(struct ranks *ranks);

/* The number of a key that was added. */
uint32_t ranks_of(const struct ranks *ranks, const struct rank_key *key);
void ranks_destroy(struct ranks *ranks);
/* SPDX-License-Identifier: MIT */
