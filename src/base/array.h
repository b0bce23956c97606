/* Growing arrays from malloc: a pointer to the items, their number, and the number that there is room for.
 * An empty array is NULL with room for 0. Its owner frees the items. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ARRAY_FIRST = 64 };

/* Has room for `count` items of `size` bytes each: for twice as many as before, or more. `items` is the
 * address of the pointer to the items, of any type. False without memory; then the array is as it was. */
static inline bool array_reserve(void *items, size_t *capacity, size_t count, size_t size) {
  if (count <= *capacity) return true;
  size_t larger = *capacity ? 2 * *capacity : ARRAY_FIRST;
  if (larger < count) larger = count;
  void *before, *moved;
  memcpy(&before, items, sizeof before);
  moved = larger <= PTRDIFF_MAX / size ? realloc(before, larger * size) : NULL;
  if (!moved) return false;
  memcpy(items, &moved, sizeof moved);
  *capacity = larger;
  return true;
}

/* Appends an item. False without memory. The arguments are evaluated more than once. */
#define ARRAY_ADD(items, count, capacity, ...)                                \
  (array_reserve(&(items), &(capacity), (size_t)(count) + 1, sizeof *(items)) \
       ? ((items)[(count)++] = (__VA_ARGS__), true)                           \
       : false)

/* How many of the numbers, which are in ascending order, are less than `least`: the place of the first
 * that is not. */
static inline size_t array_place(const uint64_t *numbers, size_t count, uint64_t least) {
  size_t low = 0;
  while (low < count) {
    size_t middle = low + (count - low) / 2;
    if (numbers[middle] < least)
      low = middle + 1;
    else
      count = middle;
  }
  return low;
}

#endif
/* SPDX-License-Identifier: MIT */
