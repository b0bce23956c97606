/* Applies parameters to a heap. Their table and their text are in params.h. */
#ifndef GC_API_CONTROL_H
#define GC_API_CONTROL_H

#include "gc/domains/heap.h"

/* Sets the parameters that can be set before the heap has memory: defaults, then the options, then
 * the text or the variable. If any of them is impossible, it applies none. */
wn_status control_initialise(struct wn_heap *heap, const wn_heap_options *options);

/* Applies the rest, once the heap has memory. WN_ENOMEM. */
wn_status control_apply_first(struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
