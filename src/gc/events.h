/* What `verbose` tells, on standard error. */
#ifndef GC_EVENTS_H
#define GC_EVENTS_H

struct wn_heap;

void event_minor_begins(struct wn_heap *heap);
void event_minor_ends(struct wn_heap *heap);
void event_cycle_begins(struct wn_heap *heap);
void event_cycle_ends(struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
