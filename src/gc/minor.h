/* The minor collection: everything young that is reachable moves to the major heap.
 *
 * The world is stopped: running domains wait at a safepoint, blocked ones are claimed (safepoint.h). The leader collects
 * all minor heaps; threads that wait may help (copiers).
 *
 * A copier takes work in three steps. Roots: the handles of one domain, its own first, or a piece of a remembered set, slot by
 * slot. Each block is copied after the one that leads to it by its last young field, as marking goes: so a list lies in its order,
 * and is looked at once. Blocks with other young fields wait in a list through the first fields of the dead originals, so that no
 * memory is needed; what one slot leads to is copied before the next, so that it lies together. Where others are idle a copier
 * gives them the older part of that list (`gift`), which leads to most.
 *
 * CLAIMS. A copier *owns* the minor heaps of the domains whose handles it took: nobody else touches their headers, and a
 * block is claimed by storing where it went. Who meets a block of a minor heap that another owns asks for it, and waits
 * until that one *shares* it: from then on everybody claims its blocks by an exchange of the header, which costs a third
 * more. A copier shares what it owns when it is asked, when it gives work away, and when it has none left. It looks for
 * questions between the blocks that it scans, and while it waits for an answer itself; so nobody waits for ever.
 *
 * The end: the leader forbids gifts, and sees whether every copier is idle; if not, it allows them again. Without gifts who is
 * idle stays so, and a copier that takes a gift ceases to be idle before it takes. Whoever comes later finds the
 * collection closed. */
#ifndef GC_MINOR_H
#define GC_MINOR_H

#include "gc/domain.h"

enum { NO_GIFTS = 1 };
enum claims { CLAIMS_FREE, CLAIMS_OWNED, CLAIMS_SHARED };

/* What copiers share; one a heap. */
struct minor_work {
  _Atomic(bool) open;
  _Atomic(unsigned) active, idle;
  _Atomic(wn_value) gift;  /* a list of originals; 0 or NO_GIFTS */
  _Atomic(unsigned) asked; /* how often somebody asked for a minor heap */
  struct minor_heap_work {
    _Atomic(int) claims; /* enum claims */
    _Atomic(bool) asked_for;
    _Atomic(bool) roots_taken;
    _Atomic(size_t) next_piece; /* of the remembered set */
  } of[DOMAINS_MOST];
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
