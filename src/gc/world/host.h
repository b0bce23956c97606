/* The heap as a host of the sampling engine (memprof/host.h): an owner is a domain.
 *
 * SAMPLING costs nothing between samples. The next sampled word of a domain's running thread has an address, `sample_at`: the
 * minor heap's limit is not below it, so that the allocation that reaches it takes the slow path, after the same comparison
 * as any other. The words of a thread that does not run, and what is left when the minor heap begins again, are kept as a
 * distance (`domain_thread.words_left`). Blocks that are born old, and bytes outside the heap, are tried apart.
 *
 * CALLBACKS run at safepoints, never inside an allocation: a birth makes its callback due, and says so in `face.due`. Those
 * of births wait for their own thread. They run before alarms and finalisers do.
 *
 * FATES. After copying, and before minor heaps are used again, a young block was forwarded, or is dead. When marking has ended, an
 * old one is marked, or is dead. */
#ifndef GC_WORLD_HOST_H
#define GC_WORLD_HOST_H

#include "gc/world/domain.h"

void host_open(struct wn_heap *heap);
void host_close(struct wn_heap *heap);

/* All callstacks of the heap, made at the first use; NULL if there is no memory for them. */
struct callstacks *host_create_callstacks(struct wn_heap *heap);
static inline struct callstacks *host_callstacks(struct wn_heap *heap) {
  struct callstacks *callstacks = atomic_load(&heap->callstacks);
  return callstacks ? callstacks : host_create_callstacks(heap);
}

/* The domain begins, and takes part in the profile of `parent`, if that is not NULL and samples; it ends. */
void host_domain_begins(struct wn_domain *domain, struct wn_domain *parent);
void host_domain_ends(struct wn_domain *domain);

/* The calling thread begins in its domain. It runs. */
void host_thread_begins(struct domain_thread *thread);

/* ENDS of thread.h: it is in no callback any more; runs those that are due; and those that it did not run are dropped, or
 * left to others. */
void host_thread_stops(struct domain_thread *thread);
void host_thread_finishes(struct domain_thread *thread);
void host_thread_leaves(struct domain_thread *thread);

/* The thread takes its turn, or gives it: where its next sample is. */
void host_thread_runs(struct domain_thread *thread);
void host_thread_pauses(struct domain_thread *thread);

/* Blocks that may have sampled words were born: a young one below `sample_at`, one in the major heap, one with so many
 * bytes outside. */
void host_born_young(struct wn_domain *domain, wn_value block);
void host_born_old(struct wn_domain *domain, wn_value block);
void host_born_outside(struct wn_domain *domain, wn_value block, size_t bytes);

/* FATES. The world is stopped. */
void host_after_minor(struct wn_heap *heap);
void host_after_marking(struct wn_heap *heap);

/* Runs what is due, if nothing is pending. */
void host_run_pending(struct wn_domain *domain);

/* True while the thread is in a callback of a profile. */
bool host_in_callback(const struct domain_thread *thread);

#endif
/* SPDX-License-Identifier: MIT */
