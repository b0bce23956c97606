/* Custom blocks: what they keep outside the heap, and their release.
 *
 * A young custom block stands in a list of its domain, so that a minor collection finds those that died; an old one is found
 * by the sweeper. External bytes hasten collections: those of young blocks the next minor one, those of old blocks, or
 * that become old, the next cycle (EXTERNAL in major.h). */
#ifndef GC_CUSTOM_H
#define GC_CUSTOM_H

#include "gc/domain.h"

/* Has room in the list for one more young block. */
bool customs_reserve(struct wn_domain *domain);

/* A minor collection: dead young ones are released, the others are old now. The world is stopped. */
void customs_after_minor(struct wn_domain *domain);

/* A custom block is dead: calls its release function. Any thread. */
void custom_release(struct wn_heap *heap, wn_value block);

#endif
/* SPDX-License-Identifier: MIT */
