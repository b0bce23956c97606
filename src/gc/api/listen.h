/* Public listeners of winnow/events.h, for other files of this part. */
#ifndef GC_API_LISTEN_H
#define GC_API_LISTEN_H

#include "gc/events/events.h"
#include <winnow/events.h>

struct wn_heap;

struct wn_gc_listener {
  struct listener listener;
  struct wn_gc_listener *next; /* of those that wn_gc_listen added, LISTENING of events.h */

  /* Constant while it listens. */
  uint64_t kinds;
  wn_gc_hear *hear;
  void *context;

  /* Written by leaders. When all stood still in the current stop; 0: no stop was told. */
  uint64_t stopped_ns;
};

/* Adds a listener whose kinds, hear and context are set; the caller owns its memory. The world is
 * stopped. Remove it by listeners_remove. */
void listen_add(struct wn_heap *heap, struct wn_gc_listener *listener);

/* What functions of winnow/events.h check first: caller_check, and that the calling thread is not
 * in a callback of a listener. */
wn_status listen_check(const struct wn_domain *domain, const char *what);

/* Removes the listeners of a heap that is being closed. No domain is left. */
void listen_close_all(struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
