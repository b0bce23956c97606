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
#ifndef GC_NURSERY_H
#define GC_NURSERY_H

#include "gc/domain.h"

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

/* Where allocation ends if nothing else is wanted: before the next sample, or at the begin of the piece. */
static inline char *nursery_end(const struct wn_domain *domain) {
  return domain->sample_at > (intptr_t)domain->young_start ? (char *)domain->sample_at : domain->young_start;
}

/* Where the domain's limit belongs. */
char *nursery_limit(const struct wn_domain *domain);

/* The end has moved: so does the limit, unless it is above everything (RAISING of domain.h). */
static inline void nursery_move_limit(struct wn_domain *domain) {
  char **limit = &domain->face.young_limit;
  if (__atomic_load_n(limit, __ATOMIC_RELAXED) == (char *)UINTPTR_MAX) return;
  __atomic_store_n(limit, nursery_end(domain), __ATOMIC_RELAXED);
  fence_light();
  if (__builtin_expect(domain_is_wanted(domain), 0)) domain_raise_limit(domain);
}

/* RESERVE of chunk.h: makes sure that the next minor collection has memory. The lock (rank WORLD) is held. */
void nursery_secure(struct wn_heap *heap);

/* Makes room for a block of `extent` words, header included; collects, and yields if it is asked to. False if memory is exhausted. */
bool nursery_make_room(struct wn_domain *domain, size_t extent);

/* False where the fast path of allocation would end. */
static inline bool nursery_has_room(const struct wn_domain *domain, size_t extent) {
  return wn_above_limit(&domain->face, domain->face.young_ptr - extent * sizeof(wn_value));
}

/* For functions whose frame is where callstacks begin: each has one of its own, which goes on until FRAME_ENDS. */
#define OWN_FRAME  __attribute__((noinline))
#define FRAME_ENDS __asm__ volatile("" ::: "memory") /* the call before it is no tail call */

/* The block for which there is room, its fields not yet set. Neither collects nor yields. If the fast path ended, the domain's
 * `frame` is set before: __builtin_frame_address(0) of the function of the heap that the program called, which goes on
 * meanwhile. A sampled block's callstack begins with who called that. */
wn_value *nursery_take(struct wn_domain *domain, size_t words, unsigned tag);

/* A young block, its fields not yet set: as wn_bump, for our own functions. NULL if memory is exhausted. May collect. */
wn_value *nursery_allocate_slow(struct wn_domain *domain, size_t words, unsigned tag, const void *frame);
static inline wn_value *nursery_allocate(struct wn_domain *domain, size_t words, unsigned tag,
                                         const void *frame) {
  char *at = domain->face.young_ptr - (words + 1) * sizeof(wn_value);
  if (__builtin_expect(!wn_above_limit(&domain->face, at), 0))
    return nursery_allocate_slow(domain, words, tag, frame);
  domain->face.young_ptr = at;
  *(wn_value *)at = WN_HEADER(words, tag);
  return (wn_value *)at + 1;
}

/* A block in the major heap, of any size, its fields not yet set but for large ones. NULL if memory is exhausted. May
 * collect. */
wn_value *nursery_allocate_old(struct wn_domain *domain, size_t words, unsigned tag, const void *frame,
                               bool *zeroed);

#endif
/* SPDX-License-Identifier: MIT */
