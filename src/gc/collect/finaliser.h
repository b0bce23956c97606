/* Finalisers: functions that are called when a value has died.
 *
 * A *registry* holds what a domain registered, in the order of registration: values with `finalise`, values with
 * `finalise_last`, and the queue of those that are due. It is made by the first registration.
 *
 *   registered --(finalise: unmarked at the end of marking, then marked)-----------------> due --> called
 *              --(finalise_last: unmarked once that is over, or dead in a minor heap)----> due --> called
 *
 * Registered values are weak: nobody looks at them but collections, which find them again where they went. Values that
 * are due are roots; they are old, as minor heaps are empty where marking ends. Those with `finalise_last` are gone, and
 * only the function and its context are left.
 *
 * ORDER. What one stop of the world finds dead in a registry is queued last registered first, and the queue is first in,
 * first out. So `finalise` comes before `finalise_last` of the same cycle.
 *
 * ROOM. The queue always has room for everything that is registered, so that collections need no memory for it.
 *
 * YOUNG. What was registered since the last minor collection stands at the end of its list, from `young` on; a minor
 * collection looks at no more than that.
 *
 * Handing over. The registry of a domain that ends goes to the heap, an *orphan*. If its thread will be joined, the domain
 * that joins it inherits the registry, for which it is kept for a few cycles; otherwise the next domain that leads a
 * collection does. The heir merges it into its own at its next safepoint: registered as if before its own. Until there is
 * memory for that it keeps both.
 *
 * Who may touch a registry: the running thread of its domain, and collections while the world is stopped. Orphans are
 * under the lock (rank FINALISERS). */
#ifndef GC_COLLECT_FINALISER_H
#define GC_COLLECT_FINALISER_H

#include "base/lock.h"
#include "gc/store/layout.h"
#include <winnow/gc.h>

struct wn_heap;
struct wn_domain;
struct domain_thread;
struct marker;
struct registry;

struct finalisers {
  struct lock lock; /* rank FINALISERS */
  struct registry *orphans;
};

struct domain_finalisers {
  struct registry *own, *inherited; /* a list */
  struct domain_thread *runner;     /* whose finaliser or alarm keeps the others waiting; NULL: none */
  bool awaited;                     /* the domain will be joined */
};

/* ---- for collections: the world is stopped ---- */

/* Roots of a minor collection: young values with `finalise`. */
void finalisers_each_young_root(struct wn_domain *domain, wn_visit *visit, void *visitor);
/* Young values with `finalise_last`: what died becomes due, what moved is found again. Before minor heaps are emptied.
 * Orphans find their heir. */
void finalisers_after_minor(struct wn_heap *heap, struct wn_domain *leader);
/* Roots of a cycle: values that wait for their finaliser. */
void finalisers_each_root(struct wn_heap *heap, wn_visit *visit, void *visitor);
/* Marking ended: unmarked values with `finalise` become due, and are marked. True if there was one. */
bool finalisers_mark_dead(struct wn_heap *heap, struct marker *marker);
/* Marking ended for good: unmarked values with `finalise_last` become due. */
void finalisers_clean(struct wn_heap *heap);
/* A cycle ended: orphans wait for a cycle less. */
void finalisers_cycle_ended(struct wn_heap *heap);
/* Every value, due or registered: for checks. Complaints are up to the visitor, but for those about the lists. */
void finalisers_each_value(struct wn_heap *heap, wn_visit *visit, void *visitor);
/* False if an invariant of a registry does not hold. */
bool finalisers_check(struct wn_heap *heap);

/* ---- for domains ---- */

/* Runs on this thread what is due, unless a finaliser or alarm keeps it waiting, and lets an exception leave. WN_EBUSY: one
 * was raised, or is pending; the rest are still due. */
wn_status finalisers_run_pending(struct wn_domain *domain);
/* True if something was registered since the last minor collection. */
bool finalisers_have_young(const struct wn_domain *domain);
/* The thread is in no finaliser or alarm any more, and never comes back to one. */
void finalisers_abandon(struct domain_thread *thread);
/* The domain ends: what it had goes to the heap, for the domain that inherits it. */
void finalisers_leave(struct wn_domain *domain);
/* The domain inherits what the ended domain of this number left, if nobody else did. */
void finalisers_inherit(struct wn_domain *domain, uint64_t number);
void finalisers_destroy_domain(struct wn_domain *domain);

/* ---- for the heap ---- */

/* Calls everything that is left, in the only domain there is. What is registered meanwhile is not called, and exceptions are
 * lost. */
void finalisers_run_all(struct wn_domain *domain);
void finalisers_destroy(struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
