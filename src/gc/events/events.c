/* The list of listeners. */
#include "gc/events/events.h"

#include "gc/events/hooks.h"
#include <errno.h>

_Thread_local unsigned hooks_running;

static void unite(struct events *events) {
  uint64_t wanted = 0;
  for (struct listener *listener = events->first; listener; listener = listener->next)
    wanted |= atomic_load_explicit(&listener->wants, memory_order_relaxed);
  atomic_store_explicit(&events->wanted, wanted, memory_order_relaxed);
}

void events_add(struct events *events, struct listener *listener) {
  struct listener **link = &events->first;
  while (*link) link = &(*link)->next;
  listener->next = NULL;
  listener->since_ns = os_monotonic_ns();
  *link = listener;
  unite(events);
}

void events_remove(struct events *events, struct listener *listener) {
  struct listener **link = &events->first;
  while (*link != listener) link = &(*link)->next;
  *link = listener->next;
  unite(events);
}

void events_set_wants(struct events *events, struct listener *listener, uint64_t wants) {
  atomic_store_explicit(&listener->wants, wants, memory_order_relaxed);
  unite(events);
}

void events_tell(const struct events *events, const struct event *event) {
  int saved = errno;
  for (struct listener *listener = events->first; listener; listener = listener->next)
    if (atomic_load_explicit(&listener->wants, memory_order_relaxed) & event_bit(event->kind))
      listener->hear(listener, event);
  errno = saved;
}
/* SPDX-License-Identifier: MIT */
