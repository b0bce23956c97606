/* Parameters: their table, wn_gc_get and wn_gc_set, and the text of WINNOW_PARAMS. */
#ifndef GC_CONTROL_H
#define GC_CONTROL_H

#include "gc/heap.h"

/* Sets everything that can be set before the heap has memory: defaults, then the options, then the text or the variable.
 * Nothing is applied if anything is impossible. */
wn_status control_initialise(struct wn_heap *heap, const wn_heap_options *options);

/* The rest, once it has memory. */
wn_status control_apply_first(struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
