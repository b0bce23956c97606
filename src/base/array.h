/* Growing arrays from malloc: a pointer to the items, their number, and the number that there is room for.
 * An empty array is NULL with room for 0. Its owner frees the items. */
#pragma once

#include "base/large_pages.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ARRAY_FIRST = 64 };

/* An array with room for `count` items of `size` bytes each, and for one more, so that it is not NULL
 * when there are none. NULL without memory. */
static inline void *array_new(size_t count, size_t size) {
  return count < PTRDIFF_MAX / size ? large_pages(malloc((count + 1) * size), (count + 1) * size) : NULL;
}

/* Has room for `count` items of `size` bytes each: for twice as many as before, or more. `items` is the
 * address of the pointer to the items, of any type. False without memory; then the array is as it was. */
static inline bool array_reserve(void *items, size_t *capacity, size_t count, size_t size) {
  if (count <= *capacity) return true;
  size_t larger = *capacity ? 2 * *capacity : ARRAY_FIRST;
  if (larger < count) larger = count;
  void *before, *moved;
  memcpy(&before, items, sizeof before);
  moved = larger <= PTRDIFF_MAX / size ? large_pages(realloc(before, larger * size), larger * size) : NULL;
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

/* Sorts as qsort does, but takes no memory. `size` is at most ARRAY_SORTED_MOST. */
typedef int array_compare(const void *a, const void *b);
enum { ARRAY_SORTED_MOST = 64 };

/* Lets an item sink into the heap of `count` items until no item below it is larger. */
static inline void array_sink(char *items, size_t at, size_t count, size_t size, array_compare *compare) {
  char sinking[ARRAY_SORTED_MOST];
  memcpy(sinking, items + at * size, size);
  for (size_t below; (below = 2 * at + 1) < count; at = below) {
    if (below + 1 < count && compare(items + below * size, items + (below + 1) * size) < 0) below++;
    if (compare(items + below * size, sinking) <= 0) break;
    memcpy(items + at * size, items + below * size, size);
  }
  memcpy(items + at * size, sinking, size);
}

static inline void array_sort_any(void *items, size_t count, size_t size, array_compare *compare) {
  char last[ARRAY_SORTED_MOST], *bytes = items;
  for (size_t i = count / 2; i--;) array_sink(bytes, i, count, size, compare);
  for (size_t i = count; i-- > 1;) {
    memcpy(last, bytes + i * size, size);
    memcpy(bytes + i * size, bytes, size);
    memcpy(bytes, last, size);
    array_sink(bytes, 0, i, size, compare);
  }
}

/* `size` is a constant, and a larger one does not compile. */
#define array_sort(items, count, size, compare)                      \
  ((void)sizeof(char[(size) <= (size_t)ARRAY_SORTED_MOST ? 1 : -1]), \
   array_sort_any(items, count, size, compare))
/* SPDX-License-Identifier: MIT */
