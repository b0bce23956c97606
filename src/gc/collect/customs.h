/* Custom blocks: what they keep outside the heap, and their release.
 *
 * A young custom block is in a list of its domain, so that a minor collection finds those that
 * died. The sweeper finds an old one. External bytes hasten collections: those of young blocks the
 * next minor collection, those of old blocks, and of blocks that become old, the next cycle
 * (EXTERNAL of major.h). */
#ifndef GC_COLLECT_CUSTOMS_H
#define GC_COLLECT_CUSTOMS_H

#include "gc/world/domain.h"

/* Makes room in the list for one more young block. False if there is no memory. */
bool customs_reserve(struct wn_domain *domain);

/* A block with so many external bytes is old: they count for the cycle. Returns as how many
 * words. */
size_t customs_count_old(struct wn_heap *heap, size_t external_bytes);

/* A minor collection evacuated the minor heap: dead blocks are released, the others are old now.
 * The world is stopped. */
void customs_after_minor(struct wn_domain *domain);

#endif
/* SPDX-License-Identifier: MIT */
