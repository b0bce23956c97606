/* The minor heaps: one reservation of addresses, and a slot of it for each domain.
 *
 * A domain's minor heap begins at the end of its slot and goes down, in *pieces* of an eighth of
 * its size. At the end of each piece the domain does a slice of the major collector's debt, and
 * takes the next piece. At the end of the last one it collects.
 *
 * BUDGET. Each domain has its first piece after a collection to itself. The other pieces come from
 * one budget, which is what the sizes of all awake domains add up to. So a domain that allocates
 * much uses pieces that the others leave, up to MOST_SIZES times its own size, and one stop of the
 * world serves all domains, however unevenly they allocate.
 *
 * SHORT. Where nearly everything that minor collections find is alive, longer minor heaps would
 * only make the pauses longer. So after ALIVE_COLLECTIONS such collections in a row domains may
 * take only half of the pieces, until a collection finds more dead or a size is set. One or two
 * such collections are not enough: when a program builds a structure that dies as a whole, a longer
 * minor heap lets more of its end die young. A collection that finds minor heaps less than half
 * full does not count. A minor heap of one piece stays as it is.
 *
 * POISONED. Of a domain's slot only the pieces that it has taken are not poisoned (poison.h), from
 * `young_start` to `young_end`, and what has no memory. */
#ifndef GC_COLLECT_NURSERY_H
#define GC_COLLECT_NURSERY_H

#include "gc/domains/domain.h"

enum { MINOR_WORDS_LEAST = 320 };
/* SHORT: nearly all is alive where at most one word in ALIVE_PART was dead. */
enum { ALIVE_PART = 8, ALIVE_COLLECTIONS = 8 };
enum { PIECES = 8, PIECE_LEAST = TINY ? 260 : 512, MOST_SIZES = 4 };

/* Reserves addresses for all minor heaps, of at least the size in the parameters. Where addresses are
 * short (ulimit -v) that is for fewer domains: it lowers `domains_most`. False if there are none for
 * one domain. */
bool nursery_reserve(struct wn_heap *heap);
void nursery_release(struct wn_heap *heap);

/* The largest minor heap that the reservation has room for, in words. */
size_t nursery_words_most(const struct wn_heap *heap);

/* Gives a domain an empty minor heap of `words` words. False if there is no memory. The memory of
 * its slot below the minor heap goes back to the system. */
bool nursery_place(struct wn_domain *domain, size_t words);

/* Called when the domain ends. */
void nursery_leave(const struct wn_domain *domain);

/* SHORT: called after a minor collection that copied `copied` words. */
void nursery_shorten(struct wn_heap *heap, size_t copied);

/* BUDGET: begins all minor heaps again, which are empty. The world is stopped. */
void nursery_begin(struct wn_heap *heap);

/* How many pieces a domain's minor heap has: PIECES, or 1 if it is small. */
static inline size_t nursery_pieces(const struct wn_domain *domain) {
  return domain->young_words < (size_t)PIECES * PIECE_LEAST ? 1 : PIECES;
}

/* SHORT: how many pieces, or words, the domain takes before the next collection if all domains take
 * the same. */
static inline size_t nursery_slices(const struct wn_domain *domain) {
  size_t pieces = nursery_pieces(domain);
  return domain->heap->young_alive >= ALIVE_COLLECTIONS && pieces > 1 ? pieces / 2 : pieces;
}
static inline size_t nursery_words(const struct wn_domain *domain) {
  return nursery_slices(domain) < nursery_pieces(domain) ? domain->young_words / 2 : domain->young_words;
}

/* For checks of stale addresses: moves the domain's empty minor heap, of which `used` words were
 * used, to another place of its slot, if there is one. */
void nursery_move(struct wn_domain *domain, size_t used);

/* RESERVE of chunk.h: makes sure that the next minor collection has memory. The caller has the lock
 * (rank WORLD). */
void nursery_secure(struct wn_heap *heap);

/* BUDGET: the domain takes its next piece. False if it may take none, or there is no memory. */
bool nursery_take_piece(struct wn_domain *domain);

/* Bytes of a piece of the domain's minor heap. */
size_t nursery_piece_bytes(const struct wn_domain *domain);

#endif
/* SPDX-License-Identifier: MIT */
