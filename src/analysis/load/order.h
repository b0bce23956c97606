/* Orders numbered items by a key, by radix: several times faster than comparing, and stable. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As comparing functions return it: below 0, 0, or above 0. */
static inline int order_numbers(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

struct keyed {
  uint64_t key;
  uint32_t item;
};

/* Orders items by their keys, smallest first; items with equal keys keep their order. False without
 * memory. */
bool order_by_key(struct keyed *items, size_t count);

/* The same of items from malloc, which it returns; without memory it frees them and returns NULL.
 * NULL stays NULL. */
struct keyed *order_owned(struct keyed *items, size_t count);
/* SPDX-License-Identifier: MIT */
