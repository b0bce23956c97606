/* Custom blocks. */
#include "gc/custom.h"

#include "base/error.h"
#include "base/metadata.h"
#include "gc/caller.h"
#include "gc/debug.h"
#include "gc/gc_host.h"
#include "gc/major.h"
#include "gc/minor.h"
#include "gc/nursery.h"
#include <string.h>

enum { FIRST = TINY ? 4 : 256 };

/* More external memory in young blocks than a minor heap's worth, by the ratio. */
static bool is_minor_due(const struct wn_domain *domain, size_t external_bytes) {
  const struct wn_heap *heap = domain->heap;
  double most =
      (double)(atomic_load(&heap->minor_words) * 8) * (double)heap->control.custom_minor_ratio / 100;
  return domain->young_external && (double)(domain->young_external + external_bytes) > most;
}

/* What an old block has outside counts for the cycle. Returns as how many words. */
static size_t count_old(struct wn_heap *heap, size_t external_bytes) {
  size_t words = major_external_words(heap, external_bytes);
  atomic_fetch_add(&heap->external_made, external_bytes);
  atomic_fetch_add(&heap->allocated, words);
  return words;
}

/* A fifth of a cycle's allocation was made outside, where nothing else sees it. */
static bool is_slice_due(const struct wn_domain *domain) {
  return domain->external_words > major_allowance(domain->heap) / 5;
}

static bool is_young(const struct wn_domain *domain, size_t words, size_t external_bytes) {
  return words <= WN_MAX_YOUNG_WORDS && external_bytes <= (size_t)domain->heap->control.custom_minor_max_size;
}

/* Its place in the list of young ones is had once nothing comes between that and the block: to make room may let other threads
 * run, which make others. NULL if there is no memory. */
static wn_value *allocate_young(struct wn_domain *domain, size_t words, const void *frame) {
  if (!nursery_has_room(domain, words + 1) && !nursery_make_room(domain, words + 1)) return NULL;
  if (!customs_reserve(domain)) return error_set(WN_ENOMEM, "alloc custom: no memory for a list"), NULL;
  domain->frame = frame;
  wn_value *fields = nursery_take(domain, words, WN_TAG_CUSTOM);
  domain->customs[domain->custom_count++] = (wn_value)fields;
  return fields;
}

/* ---- shared ---- */

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
  for (size_t i = 0; i < domain->custom_count; i++) {
    wn_value moved = minor_fate(domain->heap, domain->customs[i]);
    if (moved)
      count_old(domain->heap, ((const struct custom *)moved)->external_bytes);
    else
      custom_release(domain->heap, domain->customs[i]);
  }
  domain->custom_count = 0;
  domain->young_external = 0;
  domain->external_words = 0;
}

void custom_release(struct wn_heap *heap, wn_value block) {
  struct custom *custom = (struct custom *)block;
  atomic_fetch_sub(&heap->external, custom->external_bytes);
  if (custom->ops->release) custom->ops->release(custom + 1);
}

OWN_FRAME wn_ref wn_alloc_custom(wn_domain *domain, const wn_custom_ops *ops, size_t bytes,
                                 size_t external_bytes) {
  size_t words = CUSTOM_WORDS + bytes / 8 + (bytes % 8 != 0);
  wn_ref null = {NULL};
  DEBUG_DOMAIN(domain);
  if (!caller_may(domain, "alloc custom")) return null;
  struct wn_heap *heap = domain->heap;
  if (!ops || words > WN_MAX_WORDS) {
    error_set(WN_EINVAL,
              ops ? "alloc custom: more than WN_MAX_WORDS words" : "alloc custom: the operations are NULL");
    return null;
  }
  if (is_minor_due(domain, external_bytes) || is_slice_due(domain))
    major_collect_and_slice(domain, STOP_EXTERNAL);
  const void *frame = __builtin_frame_address(0);
  bool zeroed, young = is_young(domain, words, external_bytes);
  wn_value *fields = young ? allocate_young(domain, words, frame)
                           : nursery_allocate_old(domain, words, WN_TAG_CUSTOM, frame, &zeroed);
  if (!fields) return null;
  memset(fields, 0, words * 8);
  *(struct custom *)fields = (struct custom){ops, external_bytes};
  atomic_fetch_add(&heap->external, external_bytes);
  if (young) {
    domain->young_external += external_bytes;
  } else {
    domain->external_words += count_old(heap, external_bytes);
  }
  domain->frame = frame;
  if (external_bytes) host_born_outside(domain, (wn_value)fields, external_bytes);
  return wn_root(domain, (wn_value)fields);
}
/* SPDX-License-Identifier: MIT */
