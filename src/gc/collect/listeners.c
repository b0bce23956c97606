/* Registering listeners. */
#include "gc/collect/listeners.h"

#include "gc/collect/helpers.h"
#include "gc/domains/heap.h"

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
