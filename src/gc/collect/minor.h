/* The minor collection: moves everything young that is reachable to the major heap.
 *
 * The world is stopped: running domains wait at a safepoint, blocked ones are claimed
 * (safepoint.h). The leader collects all minor heaps. Threads that wait can share the work. Each of
 * these threads is a *GC worker*.
 *
 * A worker takes its work in three steps: the handles of one domain, its own first; pieces of the
 * remembered sets, slot by slot; work packets. Each block is copied after the one that leads to it
 * by its last young field, as in marking. So a list lies in its order, and its blocks are scanned
 * at once. Blocks with other young fields are *grey*. They are linked through the first fields of
 * their dead originals, so that no memory is needed. What one slot leads to is copied before the
 * next slot, so that it lies together. Where other workers are idle, a worker makes the older part
 * of its grey list, which leads to most, a *work packet*.
 *
 * OWNERSHIP. A worker *owns* the minor heap of each domain whose handles it took. While it does, no
 * other worker touches the headers there, and it claims a block by a plain store of the new
 * address. When a worker meets a block of a minor heap that another worker owns:
 *   1. It sets `share_requested` of that minor heap, then raises `share_requests`.
 *   2. It waits until the minor heap is shared, and answers requests itself meanwhile.
 *   3. The owner sees that `share_requests` has changed, and shares each requested minor heap.
 *
 * From then on all workers claim the blocks of that minor heap by an exchange of the header, which
 * costs a third more. An owner shares when it is requested, when it makes a packet, and when it has
 * no work left. It looks for requests between the blocks that it scans, so no wait is without end.
 *
 * END. The leader closes the packets, and checks whether every worker is idle; if not, it opens
 * them again. While they are closed an idle worker stays idle. A worker that takes a packet ceases
 * to be idle before it takes it. A thread that comes later finds the collection closed. */
#ifndef GC_COLLECT_MINOR_H
#define GC_COLLECT_MINOR_H

#include "gc/world/domain.h"

enum { PACKETS_CLOSED = 1 };
enum ownership { OWNED_BY_NONE, OWNED_BY_ONE, SHARED_BY_ALL };

/* What the workers of a heap share. */
struct minor_work {
  _Atomic(bool) open;
  _Atomic(unsigned) active, idle;   /* workers */
  _Atomic(wn_value) packet;         /* a list of grey originals; 0: none; or PACKETS_CLOSED */
  _Atomic(unsigned) share_requests; /* how many there were */
  struct minor_heap_work {
    _Atomic(int) ownership; /* enum ownership */
    _Atomic(bool) share_requested;
    _Atomic(bool) roots_taken;
    _Atomic(size_t) next_piece; /* of the remembered set */
  } of[DOMAINS_MOST];
};

/* The byte that fills minor heaps after a collection, where checks are on. */
enum { STALE = 0x5a };

/* Before the first collection: offers waiting threads a part in those of this heap. */
void minor_open(struct wn_heap *heap);

/* Empties all minor heaps. The world is stopped by `leader`. */
void minor_collect(struct wn_heap *heap, struct wn_domain *leader);

#endif
/* SPDX-License-Identifier: MIT */
