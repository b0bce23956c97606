/* The end of domains: what a domain leaves to its heap, and what becomes of its memory.
 *
 * ENDED. The memory of a domain that ended stays a domain, of no heap. What inlined functions read
 * of it leads them to their slow functions, which refuse it: no allocation is above its limit, no
 * slot is free, no block is young. The memory is used again only after some other domains have
 * ended. Until then a call with the old pointer is refused.
 *
 * LOST. In the child of a fork the threads of the other domains are gone, and so are their handles.
 * Such a domain is blocked for ever. It cannot end before its minor heap is empty, and a program
 * that executes another one should not pay for that: so the leader of the next minor collection
 * ends it. */
#ifndef GC_COLLECT_ENDING_H
#define GC_COLLECT_ENDING_H

#include "gc/domains/domain.h"

/* ENDED. Memory of a domain that ended; NULL if none is old enough. */
struct wn_domain *ending_take_memory(void);

/* What the next minor collection would lose with this domain. It can have stored young blocks of
 * other domains, too, and noted old blocks of which the language has not told the type. */
bool ending_has_young(const struct wn_domain *domain);

/* The heap takes over the domain's counts, pools, spans, registry and orphans. The domain is
 * blocked, the lock `world` is held, and the minor heap is empty. */
void ending_bequeath(struct wn_domain *domain);

/* Takes the domain out of the heap's list. The lock is held. */
void ending_displace(struct wn_domain *domain);

/* Frees what the domain had. No thread can reach it through the heap. */
void ending_destroy(struct wn_domain *domain);

/* LOST. ending_reap ends the lost domains, whose callbacks the leader inherits; the world is
 * stopped, and all minor heaps are empty. ending_bury frees what they had; no lock is held. */
void ending_reap(struct wn_heap *heap, struct wn_domain *leader);
void ending_bury(struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
