/* The slow paths of allocation: samples, pieces of the minor heap, collections, the major heap.
 *
 * An allocation that takes the slow path is a safepoint: it first runs callbacks of profiles that
 * wait (CALLBACKS of host.h), and if the limit is above all addresses, the domain's thread waits
 * for a leader, gives its turn to a waiter that requests it, or collects. No callback runs between
 * the birth of a block and the return of the function that allocates it. */
#ifndef GC_API_ALLOCATE_H
#define GC_API_ALLOCATE_H

#include "gc/collect/nursery.h"

/* For functions whose frame is where callstacks begin: each has a frame of its own until
 * FRAME_ENDS. */
#define OWN_FRAME  __attribute__((noinline))
#define FRAME_ENDS __asm__ volatile("" ::: "memory") /* the call before it is no tail call */

/* Makes room for a block of `extent` words, header included. Collects, and yields if a waiter
 * requests it. False if memory is exhausted. */
bool allocate_room(struct wn_domain *domain, size_t extent);

/* False if an allocation of `extent` words would leave the fast path. */
static inline bool allocate_has_room(const struct wn_domain *domain, size_t extent) {
  return wn_above_limit(&domain->context, domain->context.young_ptr - extent * sizeof(wn_value));
}

/* Allocates a young block, whose fields are not yet set, where there is room for it. A profile is
 * told the source. Neither collects nor yields. If the fast path has no room, the caller first sets
 * the domain's `frame`: __builtin_frame_address(0) of the public function that the program called
 * and that has not returned. The callstack of a sampled block begins with the caller of that
 * function. */
wn_value *allocate_cut(struct wn_domain *domain, size_t words, unsigned tag, wn_alloc_source source);

/* Allocates a young block, whose fields are not yet set: as wn_bump, for our own functions. NULL if
 * memory is exhausted. May collect. */
wn_value *allocate_young_slow(struct wn_domain *domain, size_t words, unsigned tag, const void *frame);
static inline wn_value *allocate_young(struct wn_domain *domain, size_t words, unsigned tag,
                                       const void *frame) {
  char *at = domain->context.young_ptr - (words + 1) * sizeof(wn_value);
  if (__builtin_expect(!wn_above_limit(&domain->context, at), 0))
    return allocate_young_slow(domain, words, tag, frame);
  domain->context.young_ptr = at;
  *(wn_value *)at = WN_HEADER(words, tag);
  return (wn_value *)at + 1;
}

/* Allocates a block of any size in the major heap. Its fields are not yet set; `*zeroed` becomes
 * true if they are zero bytes. NULL if memory is exhausted. May collect. */
wn_value *allocate_old(struct wn_domain *domain, size_t words, unsigned tag, const void *frame, bool *zeroed);
wn_value *allocate_old_custom(struct wn_domain *domain, size_t words, const wn_custom_ops *ops,
                              const void *frame);

/* wn_alloc, wn_alloc_mixed and wn_alloc_custom, for other public functions that allocate: with their frame. */
wn_ref allocate_block(struct wn_domain *domain, size_t words, unsigned tag, const void *frame);
wn_ref allocate_mixed(struct wn_domain *domain, size_t values, size_t bytes, const void *frame);
wn_ref allocate_custom(struct wn_domain *domain, const wn_custom_ops *ops, size_t bytes,
                       size_t external_bytes, const void *frame);

/* The parts of allocate_old, for a caller that allocates many blocks in the major heap with no
 * safepoint between them.
 * allocate_begin_old: the safepoint before it, where the domain does the slices that it owes for
 * direct allocation of all kinds. False if a stress mode makes the request for `words` fail.
 * allocate_take: the memory for one block, its header written, neither counted nor sampled. The
 * caller sets the fields of scanned blocks before the next safepoint. NULL if there is no memory.
 * allocate_pay_old: a safepoint that counts `words`, headers included, that were taken, and does the
 * slices that they call for. The cycle sees them come a few at a time, since its phases change at
 * safepoints, and each is paced by what is allocated in it. */
bool allocate_begin_old(struct wn_domain *domain, size_t words);
wn_value *allocate_take(struct wn_domain *domain, size_t words, unsigned tag, bool *zeroed);
void allocate_pay_old(struct wn_domain *domain, size_t words);

/* Memory is short: collects everything, and at the second of its `*tries` then calls the hook
 * out_of_memory. True if the request for `words` is worth trying again. */
bool allocate_make_memory(struct wn_domain *domain, size_t words, unsigned *tries);

/* True if custom blocks, the next one with so many bytes outside the heap, call for a collection. */
bool allocate_custom_is_due(const struct wn_domain *domain, size_t external_bytes);

#endif
/* SPDX-License-Identifier: MIT */
