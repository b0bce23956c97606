/* The list of young custom blocks, and external bytes. */
#include "gc/collect/customs.h"

#include "base/metadata.h"
#include "gc/collect/collector.h"
#include "gc/domains/host.h"
#include <string.h>

enum { FIRST = TINY ? 4 : 256 };

/* Takes up to `bytes` of the credit, and returns how many. */
static size_t take_credit(struct pace *pace, size_t bytes) {
  size_t credit = atomic_load(&pace->external_credit), taken;
  do taken = bytes < credit ? bytes : credit;
  while (taken && !atomic_compare_exchange_weak(&pace->external_credit, &credit, credit - taken));
  return taken;
}

size_t customs_count_old(struct wn_heap *heap, size_t external_bytes) {
  struct pace *pace = &heap->collector->pace;
  size_t bytes = external_bytes - take_credit(pace, external_bytes);
  size_t words = major_external_words(heap, bytes);
  atomic_fetch_add(&pace->external_made, bytes);
  atomic_fetch_add(&pace->allocated, words);
  return words;
}

void customs_count_shrink(struct wn_heap *heap, size_t bytes) {
  struct pace *pace = &heap->collector->pace;
  size_t credit = atomic_load(&pace->external_credit), added;
  do {
    size_t most = atomic_load(&pace->external_made) - pace->external_made_before - credit;
    added = bytes < most ? bytes : most;
  } while (added && !atomic_compare_exchange_weak(&pace->external_credit, &credit, credit + added));
}

bool customs_reserve(struct wn_domain *domain) {
  if (domain->custom_count < domain->custom_capacity) return true;
  size_t capacity = domain->custom_capacity ? 2 * domain->custom_capacity : FIRST;
  wn_value *grown = metadata_map(capacity * sizeof *grown);
  if (!grown) return false;
  if (domain->custom_count) memcpy(grown, domain->customs, domain->custom_count * sizeof *grown);
  metadata_unmap(domain->customs, domain->custom_capacity * sizeof *grown);
  domain->customs = grown;
  domain->custom_capacity = capacity;
  event_table_grows(&domain->heap->events, "young custom blocks", capacity);
  return true;
}

void customs_after_minor(struct wn_domain *domain) {
  struct wn_heap *heap = domain->heap;
  for (size_t i = 0; i < domain->custom_count; i++) {
    wn_value block = domain->customs[i], moved = heap_young_fate(heap, block);
    const struct custom *custom = (const struct custom *)(moved ? moved : block);
    if (custom_is_tracked(custom)) host_outside_aged(heap, block, moved);
    if (moved)
      customs_count_old(heap, custom_external(custom));
    else
      store_release_custom(&heap->store, block);
  }
  domain->custom_count = 0;
  domain->young_external = 0;
  domain->external_words = 0;
}
/* SPDX-License-Identifier: MIT */
