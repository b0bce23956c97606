/* The minor collection: everything young that is reachable moves to the major heap.
 *
 * The world is stopped: running domains wait at a safepoint, blocked ones are claimed (safepoint.h). The leader collects
 * all minor heaps; threads that wait may help (copiers).
 *
 * A copier takes work in three steps. Roots: the handles of one domain, or a piece of its remembered set. Then the fields of
 * the blocks that it copied, which it keeps in a list through the first fields of the dead originals, so that no memory is
 * needed. Where others are idle it gives copied blocks away (`gift`).
 *
 * A block is claimed by an exchange of its header, copied, and forwarded. With a single copier plain stores do.
 *
 * The end: the leader closes the collection when every copier is idle and there is no gift; whoever comes later finds
 * it closed. A copier that takes a gift ceases to be idle before it takes. */
#ifndef GC_MINOR_H
#define GC_MINOR_H

#include "gc/domain.h"

/* What copiers share; one a heap. */
struct minor_work {
  _Atomic(bool) open;
  _Atomic(unsigned) active, idle;
  _Atomic(wn_value) gift; /* a list of originals */
  _Atomic(unsigned) next_domain;
  _Atomic(size_t) next_piece[DOMAINS_MOST]; /* of its remembered set */
};

/* A byte of what was a minor heap, where checks are on. */
enum { STALE = 0x5a };

/* Empties all minor heaps. The world is stopped by `leader`. */
void minor_collect(struct wn_heap *heap, struct wn_domain *leader);

/* Copies on behalf of a collection that another thread leads, until it ends; at once if it is not open. The calling
 * thread's domain waits. */
void minor_help(struct wn_heap *heap, struct wn_domain *domain);

/* Where a young value went; the value itself if it is not young; 0 if it is dead. Only while the world is stopped, after
 * minor_collect copied and before the minor heaps are used again. */
static inline wn_value minor_fate(const struct wn_heap *heap, wn_value value) {
  if (!heap_is_young(heap, value)) return value;
  wn_value header = header_of(value);
  return header & FORWARD_BIT ? header - FORWARD_BIT : 0;
}

#endif
/* SPDX-License-Identifier: MIT */
