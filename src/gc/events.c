#include "gc/events.h"
void event_minor_begins(struct wn_heap *heap) { (void)heap; }
void event_minor_ends(struct wn_heap *heap) { (void)heap; }
void event_cycle_begins(struct wn_heap *heap) { (void)heap; }
void event_cycle_ends(struct wn_heap *heap) { (void)heap; }
