/* The table of visitors. */
#include "gc/collect/visitors.h"

#include "gc/collect/collector.h"
#include "gc/domains/host.h"
#include "gc/domains/roots.h"

static void each_handle(struct wn_heap *heap, wn_visit *visit, void *visitor) {
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    roots_each(domain, visit, visitor);
}

const struct visitor_row visitor_rows[VISITOR_ROWS] = {
    {"a root of the hook walk_roots, or a pending exception,", each_handle, .keeps = true},
    {"global root", globals_each, .keeps = true, .remembered = true},
    {"finaliser's closure, or call of a finaliser,", finalisers_each_root, .keeps = true},
    {"pin", pins_each, .keeps = true},
    {"finalised value", finalisers_each_registered, .keeps = false},
    {"weak block", weak_each_block, .keeps = false},
    {"identity of a block", identities_each, .keeps = false},
    {"entry of a tracked block", host_visit_old, .keeps = false, .tracked = true},
};

static bool has_young(const struct wn_domain *domain) {
  const struct remembered *remembered = &domain->remembered;
  return remembered->all || remembered->at != remembered->begin || weak_has_young(domain) ||
         domain->custom_count;
}

/* ---- shared ---- */

void visitors_each(struct wn_heap *heap, bool only_keeping, wn_visit *visit, void *visitor) {
  for (unsigned i = 0; i < VISITOR_ROWS; i++)
    if (visitor_rows[i].keeps || !only_keeping) visitor_rows[i].each(heap, visit, visitor);
}

bool visitors_have_all(const struct wn_heap *heap) {
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    if (has_young(domain) || !mark_is_empty(domain_marker(domain))) return false;
  return !heap->collector->weak.ephemerons.table && !heap->collector->identities.young.count;
}
/* SPDX-License-Identifier: MIT */
