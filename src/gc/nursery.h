/* The minor heaps: one reservation for all, a slot of it for each domain, and what happens when one is full.
 *
 * A domain's minor heap begins at its slot's begin and has as many words as the parameter says. Allocation goes down, until
 * the limit: the place where the next slice of the major collector's work is due, else the minor heap's begin, or above
 * everything when another thread wants this one to stop. */
#ifndef GC_NURSERY_H
#define GC_NURSERY_H

#include "gc/domain.h"

enum { MINOR_WORDS_LEAST = 320, MINOR_WORDS_FIRST = TINY ? 320 : 262144 };

/* Reserves addresses for all minor heaps. False if there are none. */
bool nursery_reserve(struct wn_heap *heap);
void nursery_release(struct wn_heap *heap);

/* The largest minor heap that the reservation has room for, in words. */
size_t nursery_words_most(const struct wn_heap *heap);

/* Gives a domain an empty minor heap of so many words. False if there is no memory. What it had above them goes back. */
bool nursery_place(struct wn_domain *domain, size_t words);

/* To find stale addresses: the domain's empty minor heap goes to another place of its slot. */
void nursery_move(struct wn_domain *domain);

/* Where the domain's limit belongs. */
char *nursery_limit(const struct wn_domain *domain);

/* RESERVE of chunk.h: makes sure that the next minor collection has memory. The lock (rank WORLD) is held. */
void nursery_secure(struct wn_heap *heap);

/* Makes room for a block of `extent` words, header included; collects. False if memory is exhausted. */
bool nursery_make_room(struct wn_domain *domain, size_t extent);

/* A block in the major heap, of any size, its fields not yet set but for large ones. NULL if memory is exhausted. May
 * collect. */
wn_value *nursery_allocate_old(struct wn_domain *domain, size_t words, unsigned tag, bool *zeroed);

#endif
/* SPDX-License-Identifier: MIT */
