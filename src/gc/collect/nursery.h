/* The minor heaps: one reservation for all, a slot of it for each domain, and what happens when one is full.
 *
 * A domain's minor heap begins at its slot's end and goes down, in *pieces* of an eighth of its size. At the end of each
 * piece the domain works off a slice of the major collector's debt, and takes another; at the end of the last one, it collects.
 *
 * BUDGET. The first piece after a collection is every domain's; the others come from what the sizes of all domains that are
 * awake add up to. So who allocates much uses what others leave, up to FOLD times its size, and the world is stopped once for
 * all that was allocated, however unevenly.
 *
 * SHORT. Where nearly all that a minor collection finds is alive, more of it would only make the pause longer: so after
 * ALIVE_COLLECTIONS of that kind in a row only half of the pieces are to be had, until more has died or a size is set. One or two are not
 * enough: where a structure is built that dies whole, a longer minor heap lets more of its end die young. Collections that
 * find less than half of what was to be had tell nothing. Minor heaps of one piece stay as they are.
 *
 * The limit that allocation runs into is the next sample or the begin of the piece, or above everything when another thread wants
 * the domain to stop. */
#ifndef GC_COLLECT_NURSERY_H
#define GC_COLLECT_NURSERY_H

#include "gc/world/domain.h"

enum { MINOR_WORDS_LEAST = 320, MINOR_WORDS_FIRST = TINY ? 320 : 262144 };
enum { ALIVE_PART = 8, ALIVE_COLLECTIONS = 8 }; /* SHORT: at most the n-th part of the words was dead */
enum { PIECES = 8, PIECE_LEAST = TINY ? 260 : 512, FOLD = 4 };

/* Reserves addresses for all minor heaps. False if there are none. */
bool nursery_reserve(struct wn_heap *heap);
void nursery_release(struct wn_heap *heap);

/* The largest minor heap that the reservation has room for, in words. */
size_t nursery_words_most(const struct wn_heap *heap);

/* Gives a domain an empty minor heap of so many words. False if there is no memory. What it had below them goes back. */
bool nursery_place(struct wn_domain *domain, size_t words);

/* SHORT: after a minor collection that copied so many words. */
void nursery_shorten(struct wn_heap *heap, size_t copied);

/* BUDGET: all minor heaps are empty, and begin again. The world is stopped. */
void nursery_begin(struct wn_heap *heap);

/* Pieces of a domain's minor heap: PIECES, or 1 of a small one. */
static inline size_t nursery_pieces(const struct wn_domain *domain) {
  return domain->young_words < (size_t)PIECES * PIECE_LEAST ? 1 : PIECES;
}

/* Those of them that the domain takes before the next collection, if all take the same. */
static inline size_t nursery_slices(const struct wn_domain *domain) {
  size_t pieces = nursery_pieces(domain);
  return domain->heap->young_alive >= ALIVE_COLLECTIONS && pieces > 1 ? pieces / 2 : pieces;
}
static inline size_t nursery_words(const struct wn_domain *domain) {
  return nursery_slices(domain) < nursery_pieces(domain) ? domain->young_words / 2 : domain->young_words;
}

/* To find stale addresses: the domain's empty minor heap, of which so many words were used, goes to another place of its slot
 * if there is one. */
void nursery_move(struct wn_domain *domain, size_t used);

/* RESERVE of chunk.h: makes sure that the next minor collection has memory. The lock (rank WORLD) is held. */
void nursery_secure(struct wn_heap *heap);

/* BUDGET: the domain takes its next piece. False if it may take none, or there is no memory. */
bool nursery_take_piece(struct wn_domain *domain);

/* Bytes of a piece of the domain's minor heap. */
size_t nursery_piece_bytes(const struct wn_domain *domain);

#endif
/* SPDX-License-Identifier: MIT */
