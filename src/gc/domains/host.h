/* The heap as a host of the sampling engine (memprof/host.h): an owner is a domain.
 *
 * SAMPLING costs nothing between samples. The next sampled word of a domain's running thread has an
 * address, `sample_at`, and the limit of allocation is not below that address. So the allocation
 * that reaches the word takes the slow path, by the same comparison as any other allocation. While
 * a thread does not run, and when the minor heap begins again, only the distance to the sample is
 * kept (`domain_thread.words_left`). Blocks that are born old, and bytes outside the heap, are
 * sampled one by one.
 *
 * CALLBACKS. A birth makes its callback pending (domain.h), since the block is not yet the
 * program's. The callbacks that wait run at the thread's next safepoint: at a poll, or before that
 * at the beginning of an allocation that takes the slow path, as the next sampled one does, or on
 * the way into a blocking section. There they run before alarms and finalisers, which wait for a
 * poll, as exceptions do. Traces are told at once (IMMEDIATE of memprof/host.h).
 *
 * FATES. After evacuation, and before minor heaps are used again, a young block is forwarded or
 * dead. Tracked old blocks are not looked at: those that die are TRACKED (layout.h), and the thread
 * that sweeps one reports it. What was reported is told in the next stop of the world, and all of a
 * cycle when the cycle ends. Where marking ends, dead values with `finalise_last` are reported, so
 * that their deaths are told before that function is called.
 *
 * TYPES. A trace has the language's type of each sampled block (the hook type_of). At its birth a
 * block's fields are not set, and when it is found dead, the blocks that it led to may be gone. So
 * the births that a trace is told of are noted, and the hook is asked at the beginning of the next
 * minor collection, while the world is stopped: every domain has come to a safepoint, where all
 * fields are set, and no block has moved or died since. For a cycle begins only at the end of a
 * minor collection, and frees nothing that is reachable then or younger (SNAPSHOT of major.h). */
#ifndef GC_DOMAINS_HOST_H
#define GC_DOMAINS_HOST_H

#include "gc/domains/domain.h"

void host_open(struct wn_heap *heap);
void host_close(struct wn_heap *heap);

/* All callstacks of the heap, created at the first use; NULL if there is no memory for them. */
struct callstacks *host_create_callstacks(struct wn_heap *heap);
static inline struct callstacks *host_callstacks(struct wn_heap *heap) {
  struct callstacks *callstacks = atomic_load(&heap->callstacks);
  return callstacks ? callstacks : host_create_callstacks(heap);
}

/* host_domain_begins: called when a domain begins. It takes part in the profile of `parent`, if
 * `parent` is not NULL and its profile samples. host_domain_ends: called when the domain ends. */
void host_domain_begins(struct wn_domain *domain, struct wn_domain *parent);
void host_domain_ends(struct wn_domain *domain);

/* Called when the calling thread has first begun to run in its domain. */
void host_thread_begins(struct domain_thread *thread);

/* ENDS of attach.h. host_thread_stops, step 1: the thread is in no callback any more.
 * host_thread_finishes, step 2: runs its pending callbacks. host_thread_leaves, step 3: drops
 * callbacks that did not run, or leaves them to other threads. */
void host_thread_stops(struct domain_thread *thread);
void host_thread_finishes(struct domain_thread *thread);
void host_thread_leaves(struct domain_thread *thread);

/* In the child of a fork, for a thread that stayed in the parent: does steps 1 and 3. */
void host_thread_is_lost(struct domain_thread *thread);

/* host_thread_runs, when the thread has taken its turn: computes the address of its next sample.
 * host_thread_pauses, before it gives the turn: keeps the distance to that sample. */
void host_thread_runs(struct domain_thread *thread);
void host_thread_pauses(struct domain_thread *thread);

/* Called for a new block that may have sampled words: a young block below `sample_at`, a block in
 * the major heap, a block with `bytes` outside the heap. */
void host_born_young(struct wn_domain *domain, wn_value block, wn_alloc_source source);
void host_born_old(struct wn_domain *domain, wn_value block);
void host_born_outside(struct wn_domain *domain, wn_value block, size_t bytes);

/* For many blocks that wn_marshal_read makes in the major heap. The caller subtracts the words of
 * each block, header included, from host_gap, and calls host_born_read where the rest is below 0;
 * that makes `*left` the count for the next block. */
int64_t host_gap(const struct wn_domain *domain);
void host_born_read(struct wn_domain *domain, wn_value block, int64_t *left);

/* Called when a block that has CUSTOM_TRACKED now has `to` bytes outside, less than `from`. */
void host_outside_shrank(struct wn_domain *domain, wn_value block, size_t from, size_t to);

/* FATES. The world is stopped, but for host_found_dead. host_after_minor: minor heaps are evacuated.
 * host_outside_aged: a young block with CUSTOM_TRACKED has moved, or is dead (0). host_found_dead: an
 * old block that may be tracked is dead. host_tell: tells what was reported. */
void host_after_minor(struct wn_heap *heap);
void host_outside_aged(struct wn_heap *heap, wn_value block, wn_value moved);
void host_found_dead(struct wn_heap *heap, wn_value block);
void host_tell(struct wn_heap *heap);

/* TYPES. Asks the language for the type of each noted block of a profile, and tells `tell` its
 * metadata (memprof/host.h) and the type. The notes are gone then. The world is stopped, and the
 * minor heaps are not being evacuated. */
typedef void host_tell_type(void *context, void *metadata, unsigned type);
void host_ask_types(struct wn_heap *heap, const wn_profile *profile, host_tell_type *tell, void *context);

/* Visits the addresses of tracked blocks in the table (memprof_visit_old). The world is stopped. */
void host_visit_old(struct wn_heap *heap, wn_visit *visit, void *visitor);

/* Runs the pending callbacks of the profile, if no exception is pending. host_run_waiting: the
 * same, at a place where the program has not polled. May collect, yield and block. */
void host_run_pending(struct wn_domain *domain);
void host_run_callbacks(struct wn_domain *domain);
static inline void host_run_waiting(struct wn_domain *domain) {
  if (__builtin_expect(domain->context.pending & PENDING_PROFILE, 0)) host_run_callbacks(domain);
}

/* True while the thread is in a callback of a profile. */
bool host_in_callback(const struct domain_thread *thread);

#endif
/* SPDX-License-Identifier: MIT */
