/* The minor collection: moves everything young that is reachable to the major heap.
 *
 * The world is stopped: running domains wait at a safepoint, blocked ones are claimed
 * (safepoint.h). The leader collects all minor heaps, and threads that wait can share the work. The
 * leader and each thread that shares are *GC workers*.
 *
 * A worker takes its work in three steps: the handles of one domain, its own first; pieces of the
 * remembered sets, slot by slot; work packets. When a worker has copied a block, it next copies the
 * block to which the copy's last young field leads, and so on. So the blocks of a linked list lie
 * one behind another, in the order of the list. Only a block that has further young fields must be
 * scanned afterwards: it is *grey* until a worker has scanned it. Grey blocks are linked through
 * the first fields of their dead originals, so that no memory is needed. A worker copies all blocks
 * that one slot leads to before it takes the next slot, so that they lie together. If other workers
 * are idle, a worker makes a *work packet* of the older part of its grey list, since that leads to
 * the most blocks.
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
 * them again. A worker ceases to be idle before it takes a packet. While the packets are closed no
 * worker can take one: a worker that tries ceases to be idle only for a moment. At the end the
 * leader clears `open`; a thread that comes later finds it so, and leaves. */
#ifndef GC_COLLECT_MINOR_H
#define GC_COLLECT_MINOR_H

#include "gc/domains/domain.h"

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

/* Called by a thread of a domain that waits for the leader: shares the collection, until it is
 * closed. */
void minor_join(struct wn_domain *domain);

/* In the child of a fork: a thread that came too late to share the last collection is no worker any
 * more. */
void minor_lose_workers(struct wn_heap *heap);

/* Empties all minor heaps. The world is stopped by `leader`. */
void minor_collect(struct wn_heap *heap, struct wn_domain *leader);

#endif
/* SPDX-License-Identifier: MIT */
