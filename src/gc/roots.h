/* Roots: slots of handles, and global roots.
 *
 * A thread's slots are a stack in addresses that are reserved once, so that handles, which are addresses of slots, stay
 * valid as it grows. A global root is a cell like a field of an old block: stores into it go through the same barrier,
 * so that minor collections look only at those in a remembered set. Cells are cut from pages that live as long as the
 * heap; free ones are linked. */
#ifndef GC_ROOTS_H
#define GC_ROOTS_H

#include "base/lock.h"
#include "gc/layout.h"
#include <winnow/heap.h>

struct wn_global {
  wn_value value;         /* wn_int(0) while free */
  struct wn_global *next; /* while free */
};

struct global_page;

struct globals {
  struct lock lock; /* rank GLOBALS */
  struct global_page *pages;
  struct wn_global *free;
};

struct wn_heap;
struct wn_domain;
struct gc_thread;

bool roots_create_slots(struct gc_thread *thread, struct wn_heap *heap);
void roots_destroy_slots(struct gc_thread *thread);

/* Calls `visit` for each slot of a domain's handles, and for what the walk_roots hook gives. The domain stands still. */
void roots_each(struct wn_domain *domain, wn_visit *visit, void *visitor);

/* The same for global roots. */
void roots_each_global(struct wn_heap *heap, wn_visit *visit, void *visitor);
void roots_destroy_globals(struct wn_heap *heap);

/* Makes the domain's threads obey a new stack_limit: slots in use stay, and what was reserved is the most. The world is
 * stopped. */
void roots_limit_slots(struct wn_domain *domain);

/* Handle slots in use, of all threads of the domain. */
size_t roots_count(const struct wn_domain *domain);

#endif
/* SPDX-License-Identifier: MIT */
