/* The heap as a host of the sampling engine (memprof/host.h): an owner is a domain.
 *
 * SAMPLING costs nothing between samples. The next sampled word of a domain's running thread has an
 * address, `sample_at`, and the limit of allocation is not below it. So the allocation that reaches
 * it takes the slow path, after the same comparison as any other. While a thread does not run, and
 * when the minor heap begins again, the distance to the sample is kept
 * (`domain_thread.words_left`). Blocks that are born old, and bytes outside the heap, are sampled
 * one by one.
 *
 * CALLBACKS run at safepoints, never inside an allocation: a birth makes its callback pending
 * (domain.h). Callbacks of births wait for the thread that allocated. They run before alarms and
 * finalisers.
 *
 * FATES. After evacuation, and before minor heaps are used again, a young block is forwarded or
 * dead. When marking has ended, an old block is marked or dead. */
#ifndef GC_WORLD_HOST_H
#define GC_WORLD_HOST_H

#include "gc/world/domain.h"

void host_open(struct wn_heap *heap);
void host_close(struct wn_heap *heap);

/* All callstacks of the heap, created at the first use; NULL if there is no memory for them. */
struct callstacks *host_create_callstacks(struct wn_heap *heap);
static inline struct callstacks *host_callstacks(struct wn_heap *heap) {
  struct callstacks *callstacks = atomic_load(&heap->callstacks);
  return callstacks ? callstacks : host_create_callstacks(heap);
}

/* The domain begins, and takes part in the profile of `parent`, if that is not NULL and samples;
 * the domain ends. */
void host_domain_begins(struct wn_domain *domain, struct wn_domain *parent);
void host_domain_ends(struct wn_domain *domain);

/* The calling thread has begun to run in its domain. */
void host_thread_begins(struct domain_thread *thread);

/* ENDS of attach.h. Step 1: the thread is in no callback any more. Step 2: its pending callbacks
 * run. Step 3: callbacks that it did not run are dropped, or left to other threads. */
void host_thread_stops(struct domain_thread *thread);
void host_thread_finishes(struct domain_thread *thread);
void host_thread_leaves(struct domain_thread *thread);

/* The thread takes its turn, or gives it: its next sample is placed, or kept as a distance. */
void host_thread_runs(struct domain_thread *thread);
void host_thread_pauses(struct domain_thread *thread);

/* Blocks were born that may have sampled words: a young one below `sample_at`, one in the major
 * heap, one with so many bytes outside. */
void host_born_young(struct wn_domain *domain, wn_value block);
void host_born_old(struct wn_domain *domain, wn_value block);
void host_born_outside(struct wn_domain *domain, wn_value block, size_t bytes);

/* FATES. The world is stopped. */
void host_after_minor(struct wn_heap *heap);
void host_after_marking(struct wn_heap *heap);

/* Runs the pending callbacks of the profile, if no exception is pending. */
void host_run_pending(struct wn_domain *domain);

/* True while the thread is in a callback of a profile. */
bool host_in_callback(const struct domain_thread *thread);

#endif
/* SPDX-License-Identifier: MIT */
