/* Finalisers: functions that are called when a value has died.
 *
 * A *registry* holds the registrations of a domain in their order: values with `finalise`, values
 * with `finalise_last`, and the queue of pending calls. The first registration makes it.
 *
 *   registered --(finalise: unmarked when marking ends, then marked)--------> pending --> called
 *              --(finalise_last: unmarked after that, or died young)--------> pending --> called
 *
 * Registered values are weak: only collections read them, which update their addresses when they
 * move. The values of pending calls are roots. They are old, since minor heaps are empty where
 * marking ends. Of a pending `finalise_last` the value is gone, and only the function and its
 * context are left.
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
 * into its own registry, as if registered before its own. Until there is memory for that it keeps
 * both.
 *
 * ACCESS. A registry is touched by the running thread of its domain, and by collections while the
 * world is stopped. Orphans are under the lock (rank FINALISERS). */
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
  struct domain_thread *runner;     /* the thread in a finaliser or alarm, for which others wait */
  bool awaited;                     /* another domain will join this one */
};

/* ---- for collections: the world is stopped ---- */

/* Roots of a minor collection: young values with `finalise`. */
void finalisers_each_young_root(struct wn_domain *domain, wn_visit *visit, void *visitor);
/* Young values with `finalise_last`: the calls for dead ones become pending, the addresses of moved
 * ones are updated. Before minor heaps are emptied. Orphans find their heir. */
void finalisers_after_minor(struct wn_heap *heap, struct wn_domain *leader);
/* Roots of a cycle: values that wait for their finaliser. */
void finalisers_each_root(struct wn_heap *heap, wn_visit *visit, void *visitor);
/* Marking ended: the calls for unmarked values with `finalise` become pending, and those values are
 * marked. True if there was one. */
bool finalisers_mark_dead(struct wn_heap *heap, struct marker *marker);
/* Marking ended for good: the calls for unmarked values with `finalise_last` become pending. */
void finalisers_clean(struct wn_heap *heap);
/* A cycle ended: orphans are kept for one cycle less. */
void finalisers_cycle_ended(struct wn_heap *heap);
/* Visits every value, registered or of a pending call, for checks. */
void finalisers_each_value(struct wn_heap *heap, wn_visit *visit, void *visitor);
/* False if an invariant of a registry does not hold. */
bool finalisers_check(struct wn_heap *heap);

/* ---- for domains ---- */

/* Makes the pending calls on this thread, unless a finaliser or alarm runs that keeps them waiting,
 * and lets an exception leave. WN_EBUSY: an exception was raised, or is pending; the other calls
 * are still pending. */
wn_status finalisers_run_pending(struct wn_domain *domain);
/* True if something was registered since the last minor collection. */
bool finalisers_have_young(const struct wn_domain *domain);
/* The thread is in no finaliser or alarm any more, and never returns to one. */
void finalisers_abandon(struct domain_thread *thread);
/* The domain ends: its registry becomes an orphan. */
void finalisers_leave(struct wn_domain *domain);
/* The domain inherits the orphan of the ended domain of this number, if no other domain has. */
void finalisers_inherit(struct wn_domain *domain, uint64_t number);
void finalisers_destroy_domain(struct wn_domain *domain);

/* ---- for the heap ---- */

/* Calls everything that is left, in the only domain there is. Registrations made meanwhile are not
 * called, and exceptions are lost. */
void finalisers_run_all(struct wn_domain *domain);
void finalisers_destroy(struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
