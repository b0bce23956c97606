/* The collections at stress points. */
#include "gc/collect/stress.h"

#include "gc/collect/major.h"

static bool stress_is_due(long interval, long *count) { return interval && ++*count % interval == 0; }

/* A compaction empties the minor heaps, too. */
void stress_collect(struct wn_domain *domain, enum stress_kind kind) {
  const struct stress *stress = &domain->heap->stress;
  long interval = kind == STRESS_ALLOCATION ? stress->every : stress->polls;
  bool collects = stress_is_due(interval, &domain->stress_counts[kind]);
  if (stress_is_due(stress->compact, &domain->stress_counts[STRESS_KINDS]))
    major_compact(domain, STOP_STRESS);
  else if (collects)
    major_collect(domain, COLLECT_MINOR, STOP_STRESS);
}
/* SPDX-License-Identifier: MIT */
