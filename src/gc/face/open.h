/* Heaps that are open. */
#ifndef GC_FACE_OPEN_H
#define GC_FACE_OPEN_H

#include <stdbool.h>

struct wn_heap;

/* Nothing is read through the pointer before it is known to be a heap. */
bool heap_is_open(const struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
