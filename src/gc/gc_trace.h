/* What traces of a heap are told of it, besides births and deaths: collections, pauses, domains.
 *
 * LISTENING. The list of traces changes only while the world is stopped, or when no domain is left. Who tells is a domain that
 * runs, or the leader that stopped the world, or holds the world's lock. So a trace that has been taken off the list is told
 * nothing any more, and what it needs does not go away while it is told.
 *
 * Without a trace each of these costs a load and a branch, once a collection, slice or stop. Allocation has no part in it. */
#ifndef GC_TRACE_H
#define GC_TRACE_H

#include "base/os.h"
#include "gc/domain.h"

enum pause { PAUSE_MINOR, PAUSE_SLICE, PAUSE_STOP };
enum collection { COLLECTION_MINOR, COLLECTION_MAJOR };

void trace_tell_collection(struct wn_domain *leader, enum collection kind, uint64_t began);
void trace_tell_pause(struct wn_domain *domain, enum pause kind, uint64_t began);
void trace_tell_domain(const struct wn_domain *domain, bool begins);

/* When something begins that a trace is told of at its end; 0 if there is none. */
static inline uint64_t trace_begin(const struct wn_heap *heap) {
  return __builtin_expect(heap->traces != NULL, 0) ? os_monotonic_ns() : 0;
}

/* The leader ended a collection. The world is stopped. */
static inline void trace_collected(struct wn_domain *leader, enum collection kind, uint64_t began) {
  if (began) trace_tell_collection(leader, kind, began);
}

/* The domain, which runs, stood still. */
static inline void trace_paused(struct wn_domain *domain, enum pause kind, uint64_t began) {
  if (began) trace_tell_pause(domain, kind, began);
}

/* A domain is the heap's, or will be no more. The lock (rank WORLD) is held. */
static inline void trace_domain(const struct wn_domain *domain, bool begins) {
  if (domain->heap->traces) trace_tell_domain(domain, begins);
}

/* The heap is closed: its traces end. No domain is left. */
void trace_close_all(struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
