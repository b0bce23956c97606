/* Checking every invariant of a heap. */
#ifndef GC_COLLECT_VERIFY_H
#define GC_COLLECT_VERIFY_H

#include <stdio.h>

struct wn_heap;

/* The world is stopped, and minor heaps need not be empty. Returns the number of complaints,
 * printed to `report`. */
unsigned long verify_heap(struct wn_heap *heap, FILE *report);

/* Aborts on the first complaint. */
void verify_or_die(struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
