/* Marking: finding what was reachable when the cycle began.
 *
 * A marker belongs to a domain or to a helper thread. Its stack holds *spans* of fields still to be looked at, so that a
 * huge block is marked in pieces and can be shared. Children go through a small ring after their headers were asked for
 * (prefetch), and are looked at when they have arrived: first in, first out.
 *
 * A block is marked by storing its header with the other colour. Two markers may mark the same block: harmless, its fields
 * are looked at twice. Headers of published blocks change in nothing but the colour while marking goes on.
 *
 * SHARED: where somebody is idle, a marker gives the older half of its stack, which leads to most, to `mark_shared`, where idle
 * ones take it. Marking has ended when that is empty, no marker holds anything, and the world is stopped (major.c). A helper is
 * counted as busy from the moment on at which it takes its first bundle, under the same lock, until it has given back what it
 * holds: so who has the lock, and sees neither bundles nor busy helpers, knows that no helper holds anything, nor will before
 * somebody gives. So none is busy when a cycle begins, and none has the colour of the last one.
 *
 * OVERFLOW: a span that finds no room on the stack is dropped, and `overflowed` is set: then the end of marking is followed by a
 * walk of the heap, which pushes the children of all marked blocks again. */
#ifndef GC_MARK_H
#define GC_MARK_H

#include "base/check.h"
#include "base/lock.h"
#include "gc/layout.h"

enum { RING = TINY ? 4 : 64, WATERLINE = TINY ? 1 : 16, SHARE = TINY ? 4 : 128 };

struct span {
  wn_value *at, *end;
};

struct marker {
  struct span *stack; /* reserved on first use */
  size_t count, capacity;
  wn_value ring[RING];
  unsigned ring_at, ring_end; /* of what waits in it: counts that are not reduced to places */
  size_t words;               /* looked at so far, headers included */
  size_t share_at;            /* not before so many are marked it looks whether others want something */
  bool helps;                 /* a helper's: takes nothing while a domain asks (HELD of helpers.h) */
};

struct mark_bundle;

struct mark_shared {
  struct lock lock; /* rank MARK */
  struct mark_bundle *bundles, *spare;
  _Atomic(size_t) bundle_count;
  _Atomic(unsigned) busy_helpers; /* that hold spans now; raised under the lock */
  _Atomic(unsigned) wanting;      /* helpers that sleep */
  _Atomic(unsigned) asking;       /* domains in helpers_await */
  _Atomic(uint32_t) news;         /* futex: of who waits for helpers */
  _Atomic(bool) hungry;           /* a domain found nothing to mark */
  _Atomic(bool) overflowed;
  struct gc_helper *helpers;
  unsigned helper_count, helpers_most; /* that began; that there is room for */
  bool helpers_are_guests;             /* they work on processors that no domain wants (helpers.h) */
  _Atomic(unsigned) away;              /* guests that sleep because there is none */
  _Atomic(unsigned) working;           /* helpers that touch the heap now */
  _Atomic(bool) paused;                /* none may begin to */
  _Atomic(uint32_t) wake;
  _Atomic(bool) quit;
};

struct wn_heap;

/* Marks a block if it is old and not marked yet: its children become due. */
void mark_value(struct wn_heap *heap, struct marker *marker, wn_value value);

/* Marks about `words` words, however large the blocks are that it finds. Returns how many; less only if nothing is left here nor
 * shared. */
size_t mark_some(struct wn_heap *heap, struct marker *marker, size_t words);

bool mark_is_empty(const struct marker *marker);

/* Takes a bundle of what is shared, if there is one that the marker may take, which holds nothing. */
bool mark_take(struct wn_heap *heap, struct marker *marker);

/* The same; the marker's helper becomes busy if there is one. */
bool mark_take_first(struct wn_heap *heap, struct marker *marker);

/* True if there may be somebody to share with. */
bool mark_has_others(const struct wn_heap *heap);

/* Gives everything that a marker holds to the others. */
void mark_give_all(struct wn_heap *heap, struct marker *marker);
void marker_destroy(struct marker *marker);

/* OVERFLOW. The world is stopped, helpers are paused: pushes the fields of all marked blocks. */
void mark_again(struct wn_heap *heap, struct marker *marker);

void mark_destroy(struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
