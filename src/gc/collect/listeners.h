/* Registering listeners (events.h) with a heap that has domains. */
#ifndef GC_COLLECT_LISTENERS_H
#define GC_COLLECT_LISTENERS_H

#include "gc/events/events.h"

/* Add and remove a listener. The caller's domain has stopped the world, or no domain is left. The
 * functions pause the helper threads, so that LISTENING of events.h holds. */
void listeners_add(struct wn_heap *heap, struct listener *listener);
void listeners_remove(struct wn_heap *heap, struct listener *listener);

#endif
/* SPDX-License-Identifier: MIT */
