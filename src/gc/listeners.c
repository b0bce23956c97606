/* Registering listeners. */
#include "gc/listeners.h"

#include "gc/heap.h"
#include "gc/helpers.h"

void listeners_add(struct wn_heap *heap, struct listener *listener) {
  helpers_pause(heap);
  events_add(&heap->events, listener);
  helpers_resume(heap);
}

void listeners_remove(struct wn_heap *heap, struct listener *listener) {
  helpers_pause(heap);
  events_remove(&heap->events, listener);
  helpers_resume(heap);
}
/* SPDX-License-Identifier: MIT */
