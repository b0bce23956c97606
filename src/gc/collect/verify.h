/* Checking every invariant of a heap. */
#ifndef GC_COLLECT_VERIFY_H
#define GC_COLLECT_VERIFY_H

#include <stdio.h>

struct wn_heap;

/* Checks a heap and prints complaints to `report`. Returns how many there are. The world is
 * stopped; minor heaps need not be empty. */
unsigned long verify_heap(struct wn_heap *heap, FILE *report);

/* Aborts on the first complaint. */
void verify_or_die(struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
