/* The write barrier: what a store into a field of an old block, or into a global root, notes.
 *
 * - While marking goes on, the overwritten value is marked. It was reachable when the cycle began
 *   (SNAPSHOT of major.h), and the field may have been its last reference.
 * - A field that gets a young value enters the remembered set, so that the next minor collection
 *   finds it. If the overwritten value is young, the field is in the set already.
 *
 * Fields of young blocks need neither: no block that is young now existed when the cycle began. */
#ifndef GC_COLLECT_BARRIER_H
#define GC_COLLECT_BARRIER_H

#include "gc/collect/collector.h"
#include "gc/domains/domain.h"

static inline void barrier_before(struct wn_domain *domain, wn_value *field, wn_value old, wn_value value) {
  struct wn_heap *heap = domain->heap;
  if (heap_phase(heap) == PHASE_MARK && !(old & 1)) mark_value(heap, domain_marker(domain), old);
  if (heap_is_young(heap, value) && !heap_is_young(heap, old)) remembered_add(&domain->remembered, field);
}

static inline void barrier_store(struct wn_domain *domain, wn_value *field, wn_value value) {
  barrier_before(domain, field, field_load(field), value);
  field_store(field, value);
}

#endif
/* SPDX-License-Identifier: MIT */
