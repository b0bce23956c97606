/* Ends of domains, and memory of ended ones. */
#include "gc/collect/ending.h"

#include "base/metadata.h"
#include "gc/collect/collector.h"
#include "gc/collect/nursery.h"
#include "gc/domains/host.h"
#include "gc/domains/process.h"

enum { ENDED_MOST = 8 };

/* ENDED. Protected by the lock of process.h. */
static struct {
  struct wn_domain *first, *last;
  unsigned count;
} ended;

static void keep_memory(struct wn_domain *domain) {
  *domain = (struct wn_domain){.context.young_limit = (char *)UINTPTR_MAX, .number = UINT64_MAX};
  process_acquire();
  *(ended.last ? &ended.last->next_ended : &ended.first) = domain;
  ended.last = domain;
  ended.count++;
  process_release();
}

/* ---- shared ---- */

struct wn_domain *ending_take_memory(void) {
  struct wn_domain *domain = NULL;
  process_acquire();
  if (ended.count > ENDED_MOST) {
    domain = ended.first;
    ended.first = domain->next_ended;
    ended.count--;
  }
  process_release();
  return domain;
}

bool ending_has_young(const struct wn_domain *domain) {
  const struct remembered *remembered = &domain->remembered;
  return domain_young_used(domain) || domain->custom_count || remembered->all ||
         remembered->at != remembered->begin || weak_has_young(domain) || finalisers_have_young(domain) ||
         domain->untyped.count;
}

void ending_displace(struct wn_domain *domain) {
  struct wn_heap *heap = domain->heap;
  nursery_leave(domain);
  heap->domains[domain->index] = NULL;
  heap->domain_count--;
  while (heap->domains_end && !heap->domains[heap->domains_end - 1]) heap->domains_end--;
}

void ending_bequeath(struct wn_domain *domain) {
  struct wn_heap *heap = domain->heap;
  heap->ended.minor_words += domain->minor_words;
  heap->ended.promoted_words += domain->promoted_words;
  heap->ended.major_words += domain->major_words;
  pools_flush(&heap->store, domain->runs);
  mark_give_all(heap, domain_marker(domain));
  host_domain_ends(domain);
  finalisers_leave(domain);
  event_point(&heap->events, EVENT_DOMAIN_ENDS, domain);
  ending_displace(domain);
}

void ending_destroy(struct wn_domain *domain) {
  remembered_destroy(&domain->remembered);
  weak_destroy_domain(domain);
  marker_destroy(domain_marker(domain));
  metadata_unmap(domain->customs, domain->custom_capacity * sizeof *domain->customs);
  finalisers_destroy_domain(domain);
  keep_memory(domain);
}

void ending_reap(struct wn_heap *heap, struct wn_domain *leader) {
  if (!atomic_load(&heap->lost)) return;
  for (unsigned index = 0; index < heap->domains_end; index++) {
    struct wn_domain *domain = heap->domains[index];
    if (!domain || !domain->lost) continue;
    ending_bequeath(domain);
    domain->next_ended = atomic_load(&heap->collector->reaped);
    while (!atomic_compare_exchange_weak(&heap->collector->reaped, &domain->next_ended, domain)) {}
  }
  atomic_store(&heap->lost, 0);
  domain_add_pending(leader, PENDING_ANY);
}

void ending_bury(struct wn_heap *heap) {
  if (!atomic_load(&heap->collector->reaped)) return;
  for (struct wn_domain *domain = atomic_exchange(&heap->collector->reaped, NULL), *next; domain;
       domain = next) {
    next = domain->next_ended;
    ending_destroy(domain);
  }
}
/* SPDX-License-Identifier: MIT */
