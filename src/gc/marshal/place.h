/* Where the blocks of a message that is read go.
 *
 * A message of up to WN_MAX_YOUNG_WORDS words makes young blocks: room for all of them is found at
 * one safepoint. Blocks of larger messages are born in the major heap, one after the other. Either
 * way there is no safepoint between the first block and the last, so addresses hold still, and the
 * phase and the colours of the cycle stay as they are (COLOURS of major.h). New old blocks have the
 * live colour: marking does not look into them, which is right, since all that they lead to is as
 * new as they are (SNAPSHOT). They need no remembered set either: an old block of a message leads
 * to old blocks only, and young ones may lead to old ones.
 *
 * WHOLE. At the next safepoint every field of every block that was made must hold a value, whether
 * the message was read to its end or not: the collector may then walk all blocks of the heap.
 *
 * Two kinds of blocks may be old though the message is small, for which its header tells no room:
 * atoms, of which a message has one for each tag, and custom blocks, which take a word more than in
 * OCaml. Neither leads to other blocks. */
#ifndef GC_MARSHAL_PLACE_H
#define GC_MARSHAL_PLACE_H

#include "gc/api/allocate.h"
#include "gc/domains/host.h"

struct place {
  struct wn_domain *domain;
  unsigned live;     /* the colour of new blocks of the major heap */
  bool young;        /* where the message's blocks go */
  size_t room;       /* young: words that are left, of those for custom blocks alone */
  size_t old_words;  /* that were taken, headers included */
  int64_t to_sample; /* of the major heap: words before the next one that is sampled */
};

/* The safepoint; `words` is what the header tells, and `frame` that of the public function
 * (allocate.h). May collect. False if memory is exhausted. */
bool place_begin(struct place *place, struct wn_domain *domain, size_t words, const void *frame);

/* The safepoint after the last block: counts what was taken in the major heap. The value is in a
 * handle, or given up. May collect. */
void place_end(struct place *place);

/* A block in the major heap, whose fields are not set. NULL if there is no memory. */
wn_value *place_medium(struct place *place, size_t words, unsigned tag);
static inline wn_value *place_old(struct place *place, size_t words, unsigned tag) {
  if (__builtin_expect(words >= CLASS_WORDS_MOST, 0)) return place_medium(place, words, tag);
  struct wn_domain *domain = place->domain;
  wn_value *at = pools_take(&domain->heap->store, domain->runs, words + 1, false);
  if (__builtin_expect(!at, 0)) return NULL;
  wn_value header = header_make(words, tag, place->live);
  atomic_store_explicit((_Atomic(wn_value) *)at, header, memory_order_relaxed);
  place->old_words += words + 1;
  place->to_sample -= (int64_t)words + 1;
  if (__builtin_expect(place->to_sample < 0, 0))
    host_born_read(domain, (wn_value)(at + 1), &place->to_sample);
  return at + 1;
}

/* A block of the message, whose fields are not set. NULL if there is no memory. */
static inline wn_value *place_block(struct place *place, size_t words, unsigned tag) {
  if (place->young) return allocate_cut(place->domain, words, tag, WN_SOURCE_MARSHAL);
  return place_old(place, words, tag);
}

/* A custom block of `bytes` zero bytes that has no operations yet; a profile is told those that it
 * will have. NULL if there is no memory. place_own_custom gives it its operations and its memory
 * outside the heap. */
struct custom *place_custom(struct place *place, const wn_custom_ops *ops, size_t bytes);
void place_own_custom(struct place *place, struct custom *custom, const wn_custom_ops *ops,
                      size_t external_bytes);

#endif
/* SPDX-License-Identifier: MIT */
