/* Roots of a domain: the slots of its handles, and the values that its hook walk_roots visits.
 *
 * A thread's slots are a stack in addresses that are reserved once. So handles, which are addresses
 * of slots, stay valid as the stack grows. */
#ifndef GC_DOMAINS_ROOTS_H
#define GC_DOMAINS_ROOTS_H

#include "gc/store/layout.h"
#include <winnow/heap.h>

struct wn_heap;
struct wn_domain;
struct domain_thread;

bool roots_create_slots(struct domain_thread *thread, struct wn_heap *heap);
void roots_destroy_slots(struct domain_thread *thread);

/* True if so many handles can be made. Calls no hook. */
bool roots_have_slots(struct wn_domain *domain, size_t count);

/* Calls `visit` for each handle of a domain and for its pending exception, and for each value that
 * its hook walk_roots visits. No thread runs in the domain. */
void roots_each_handle(struct wn_domain *domain, wn_visit *visit, void *visitor);
void roots_each_of_language(struct wn_domain *domain, wn_visit *visit, void *visitor);
void roots_each(struct wn_domain *domain, wn_visit *visit, void *visitor); /* both */

/* Applies a new stack_limit to the domain's threads. Slots in use stay, and a stack cannot grow
 * beyond its reserved addresses. The world is stopped. */
void roots_limit_slots(struct wn_domain *domain);

/* Handle slots in use, of all threads of the domain. */
size_t roots_count(const struct wn_domain *domain);

#endif
/* SPDX-License-Identifier: MIT */
