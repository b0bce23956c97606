/* Finalisers and alarms. */
#ifndef GC_FINALISER_H
#define GC_FINALISER_H

#include "gc/layout.h"
#include <winnow/gc.h>

struct wn_heap;
struct wn_domain;
struct marker;

struct finalisers {
  int unused;
};
struct domain_finalisers {
  int unused;
};

/* ---- for collections: the world is stopped ---- */

/* Roots of a minor collection: young values with `finalise`, and values that wait for their finaliser. */
void finalisers_each_young_root(struct wn_domain *domain, wn_visit *visit, void *visitor);
/* Young values with `finalise_last`: what died becomes due, what moved is found again. Before minor heaps are emptied. */
void finalisers_after_minor(struct wn_heap *heap);
/* Roots of a cycle: values that wait for their finaliser. */
void finalisers_each_root(struct wn_heap *heap, wn_visit *visit, void *visitor);
/* Marking ended: unmarked values with `finalise` become due, and are marked. True if there was one. */
bool finalisers_mark_dead(struct wn_heap *heap, struct marker *marker);
/* Marking ended for good: unmarked values with `finalise_last` become due. */
void finalisers_clean(struct wn_heap *heap);
/* A cycle ended: alarms become due. */
void finalisers_cycle_ended(struct wn_heap *heap);

/* ---- for domains ---- */

/* Runs what is due on this thread. */
void finalisers_run_due(struct wn_domain *domain);
/* The domain ends: what it had goes to the heap, for the domain that adopts it. */
void finalisers_leave(struct wn_domain *domain);
void finalisers_destroy_domain(struct wn_domain *domain);

#endif
/* SPDX-License-Identifier: MIT */
