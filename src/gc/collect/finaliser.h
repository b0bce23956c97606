/* Finalisers: functions that are called when a value has died.
 *
 * A *registry* holds the registrations of a domain in their order: values with `finalise`, values
 * with `finalise_last`, and the queue of pending calls. The first registration makes it.
 *
 *   registered --(finalise: unmarked when marking ends, then marked)--------> pending --> called
 *              --(finalise_last: unmarked after that, or died young)--------> pending --> called
 *
 * Registered values are weak: only collections read them, and update their addresses when they
 * move. The values of pending calls are roots. They are old, since minor heaps are empty where
 * marking ends. A pending call of `finalise_last` has no value any more, only the function and its
 * context or closure. Closures are roots from their registration to the call.
 *
 * ORDER. The values of a registry that one stop of the world finds dead are queued last registered
 * first. The queue is first in, first out. So `finalise` comes before `finalise_last` of the same
 * cycle.
 *
 * ROOM. The queue always has room for everything that is registered, so that collections need no
 * memory for it.
 *
 * YOUNG. Registrations since the last minor collection are at the end of their list, from `young`
 * on. A minor collection scans only these.
 *
 * HANDING OVER. The registry of a domain that ends goes to the heap, as an *orphan*. If the domain
 * will be joined, its orphan is kept for a few cycles for the domain that joins it. Otherwise the
 * next domain that leads a collection inherits it. At its next safepoint the heir merges the orphan
 * into its own registry, as if the orphan's values had been registered before its own. It keeps
 * both until there is memory for that.
 *
 * ACCESS. The running thread of a domain touches the domain's registry, and so do collections while
 * the world is stopped. The lock (rank FINALISERS) protects orphans. */
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
  struct domain_thread *runner;     /* the thread that is in a finaliser or alarm; the others wait for it */
  bool awaited;                     /* another domain will join this one */
};

/* ---- for collections: the world is stopped ---- */

/* Visits young values with `finalise`, and closures that may be young: roots of a minor
 * collection. */
void finalisers_each_young_root(struct wn_domain *domain, wn_visit *visit, void *visitor);
/* Called after the evacuation, before minor heaps are emptied. Of the young values with
 * `finalise_last`, makes the calls for dead ones pending, and updates the addresses of moved ones.
 * Gives orphans to their heir. */
void finalisers_after_minor(struct wn_heap *heap, struct wn_domain *leader);
/* Visits the values of pending calls, and all closures: roots of a cycle. */
void finalisers_each_root(struct wn_heap *heap, wn_visit *visit, void *visitor);
/* Called when marking ended: makes the calls for unmarked values with `finalise` pending, and marks
 * these values. True if there was one. */
bool finalisers_mark_dead(struct wn_heap *heap, struct marker *marker);
/* Called when marking ended for good: makes the calls for unmarked values with `finalise_last`
 * pending. */
void finalisers_clean(struct wn_heap *heap);
/* Called when a cycle ended: counts down for how many cycles orphans are still kept. */
void finalisers_cycle_ended(struct wn_heap *heap);
/* Visits the registered values, which are weak. */
void finalisers_each_registered(struct wn_heap *heap, wn_visit *visit, void *visitor);
/* False if an invariant of a registry does not hold. */
bool finalisers_check(struct wn_heap *heap);

/* ---- for domains ---- */

/* Makes the pending calls on this thread, unless they must wait for a finaliser or alarm that runs,
 * and lets an exception leave. WN_EBUSY: an exception was raised, or is pending; the other calls
 * are still pending. */
wn_status finalisers_run_pending(struct wn_domain *domain);
/* True if something was registered since the last minor collection. */
bool finalisers_have_young(const struct wn_domain *domain);
/* Called when the thread leaves its finaliser or alarm and will never return to it. */
void finalisers_abandon(struct domain_thread *thread);
/* Called when the domain ends: makes its registry an orphan. */
void finalisers_leave(struct wn_domain *domain);
/* Lets the domain inherit the orphan of the ended domain with this number, unless another domain
 * has inherited it. */
void finalisers_inherit(struct wn_domain *domain, uint64_t number);
void finalisers_destroy_domain(struct wn_domain *domain);

/* ---- for the heap ---- */

/* Makes all calls that are left, in the only domain that there is. Functions registered meanwhile
 * are not called, and exceptions are lost. */
void finalisers_run_all(struct wn_domain *domain);
void finalisers_destroy(struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
