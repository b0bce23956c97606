/* Stress: collections that nothing needs, so that a value that is stale after a call is found at its
 * first use. The parameters are in params.h: `every`, `polls` and `compact`.
 *
 * Each call that may collect has a stress point, where its arguments are in handles alone. An
 * allocation has it in the slow path, which all allocations take then. */
#ifndef GC_DOMAINS_STRESS_H
#define GC_DOMAINS_STRESS_H

#include "base/check.h"
#include "gc/domains/domain.h"
#include "gc/domains/safepoint.h"

/* An allocation counts for `every`, a poll and each other call for `polls`, and all for `compact`.
 * Collects if it is due. */
static inline void stress_point(struct wn_domain *domain, enum stress_kind kind) {
  if (__builtin_expect(heap_collects_by_stress(domain->heap), 0)) domain->heap->stress.collect(domain, kind);
}

/* The same for calls that collect rarely, and do not where checks are off. */
static inline void stress_call(struct wn_domain *domain) {
  if (CHECKS) stress_point(domain, STRESS_POLL);
}

/* The same, and stops the world. Other domains may collect meanwhile. */
static inline void stress_world_stop(struct wn_domain *domain, enum stop_cause cause) {
  stress_call(domain);
  while (!world_stop(domain, cause)) {}
}

#endif
/* SPDX-License-Identifier: MIT */
