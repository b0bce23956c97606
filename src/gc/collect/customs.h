/* Custom blocks: their memory outside the heap, and their release.
 *
 * Each domain has a list of its young custom blocks, so that a minor collection finds those that
 * died. The sweeper finds dead old ones. External bytes hasten collections: the bytes of young
 * blocks hasten the next minor collection, and the bytes of old blocks, and of blocks that become
 * old, the next cycle (EXTERNAL of major.h). */
#ifndef GC_COLLECT_CUSTOMS_H
#define GC_COLLECT_CUSTOMS_H

#include "gc/domains/domain.h"

/* Makes room in the list for one more young block. False if there is no memory. */
bool customs_reserve(struct wn_domain *domain);

/* Counts the external bytes of a block that is old, or has become old, for the cycle. Returns for
 * how many words they count. */
size_t customs_count_old(struct wn_heap *heap, size_t external_bytes);

/* Counts that an old block has `bytes` less outside: they become CREDIT of major.h. */
void customs_count_shrink(struct wn_heap *heap, size_t bytes);

/* Called when a minor collection has evacuated the minor heap: releases dead blocks; the others are
 * old now. The world is stopped. */
void customs_after_minor(struct wn_domain *domain);

#endif
/* SPDX-License-Identifier: MIT */
