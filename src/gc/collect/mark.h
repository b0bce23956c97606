/* Marking: finds what was reachable when the cycle began.
 *
 * A marker belongs to a domain or to a helper thread. Its stack holds *spans* of fields to scan, so
 * that a huge block is marked in pieces and can be shared. The header of a child is prefetched, and
 * the child waits in a small ring, first in, first out, until its header has arrived. A small block
 * without children is not pushed.
 *
 * A block is marked by storing its header with the other colour. Two markers may mark the same
 * block: then its fields are scanned twice, which is harmless. While marking goes on nothing in the
 * header of a block that is not marked changes but the colour (TRACKED of layout.h).
 *
 * SHARED. If another marker is idle, a marker puts the older half of its stack into a *work packet*
 * on the list of `struct marking`; that half leads to the most blocks. Idle markers take packets
 * from there. Marking has ended when there is no packet, no marker holds anything, and the world is
 * stopped (major.c). A helper counts as busy from when it takes its first packet, which is under
 * the lock, until it has returned all that it holds. So a thread that has the lock, and sees
 * neither packets nor busy helpers, knows that no helper holds anything, and that none will before
 * another thread adds a packet. No helper is therefore busy when a cycle begins, and none uses the
 * last cycle's colour.
 *
 * OVERFLOW. A span for which the stack has no room is dropped, and `overflowed` is set. When
 * marking would end, a walk of the heap then pushes the children of all marked blocks again.
 *
 * RESERVE. If there is no memory for a stack, a marker makes do with `reserve`, which holds one
 * packet, until there is. So every marker can take packets: the only one that runs may have to mark
 * what all others left. */
#ifndef GC_COLLECT_MARK_H
#define GC_COLLECT_MARK_H

#include "base/check.h"
#include "base/lock.h"
#include "gc/store/layout.h"

enum { RING = TINY ? 4 : 32, WATERLINE = TINY ? 1 : 16, PACKET_SPANS = TINY ? 4 : 128 };

struct span {
  wn_value *at, *end;
};

struct marker {
  struct span *stack; /* NULL before its first use */
  size_t count, capacity;
  wn_value ring[RING];
  unsigned ring_at, ring_end; /* of the blocks in the ring; not reduced modulo RING */
  size_t words;               /* scanned so far, headers included */
  size_t share_at;            /* value of `words` at which it next looks for idle markers */
  bool is_helper;             /* a helper's: takes no packet while a domain reclaims (helpers.h) */
  struct span reserve[PACKET_SPANS];
};

struct mark_packet;

struct marking {
  struct lock lock; /* rank MARK */
  struct mark_packet *packets, *spare;
  _Atomic(size_t) packet_count;
  _Atomic(bool) hungry; /* a domain found nothing to mark */
  _Atomic(bool) overflowed;
};

struct wn_heap;

/* Marks a block if it is old and not marked yet; its children will be scanned. */
void mark_value(struct wn_heap *heap, struct marker *marker, wn_value value);

/* Marks about `words` words, however large the blocks are. Returns how many; less only if neither
 * the marker nor the packets have anything left. */
size_t mark_some(struct wn_heap *heap, struct marker *marker, size_t words);

bool mark_is_empty(const struct marker *marker);

/* Takes a packet, if there is one and the marker may take it. The marker holds nothing before. */
bool mark_take(struct wn_heap *heap, struct marker *marker);

/* The same for a helper, which becomes busy if it gets a packet. */
bool mark_take_first(struct wn_heap *heap, struct marker *marker);

/* True if another marker may take packets. */
bool mark_has_others(const struct wn_heap *heap);

/* Puts everything that a marker holds into packets. */
void mark_give_all(struct wn_heap *heap, struct marker *marker);
void marker_destroy(struct marker *marker);

/* OVERFLOW. Pushes the fields of all marked blocks. The world is stopped, and helpers are
 * paused. */
void mark_again(struct wn_heap *heap, struct marker *marker);

void mark_destroy(struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
