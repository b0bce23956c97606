/* Heaps that are open. */
#ifndef GC_API_OPEN_H
#define GC_API_OPEN_H

#include <stdbool.h>

struct wn_heap;

/* Whether a pointer is that of an open heap. Nothing is read through it. */
bool heap_is_open(const struct wn_heap *heap);

/* The open heaps, through `next_open`. The caller holds the lock of process.h. */
struct wn_heap *heaps_open(void);

#endif
/* SPDX-License-Identifier: MIT */
