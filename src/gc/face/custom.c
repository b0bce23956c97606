/* Allocation of custom blocks. */
#include "base/error.h"
#include "gc/collect/customs.h"
#include "gc/collect/major.h"
#include "gc/face/allocate.h"
#include "gc/world/caller.h"
#include "gc/world/debug.h"
#include "gc/world/host.h"
#include "gc/world/shortage.h"
#include <string.h>

/* Young blocks have more external memory than a minor heap is worth, by the ratio. */
static bool needs_minor(const struct wn_domain *domain, size_t external_bytes) {
  const struct wn_heap *heap = domain->heap;
  double most =
      (double)(atomic_load(&heap->minor_words) * 8) * (double)heap->control.custom_minor_ratio / 100;
  return domain->young_external && (double)(domain->young_external + external_bytes) > most;
}

/* A fifth of a cycle's allocation was external, which no other check counts. */
static bool needs_slice(const struct wn_domain *domain) {
  return domain->external_words > major_allowance(domain->heap) / 5;
}

static bool is_young(const struct wn_domain *domain, size_t words, size_t external_bytes) {
  return words <= WN_MAX_YOUNG_WORDS && external_bytes <= (size_t)domain->heap->control.custom_minor_max_size;
}

/* Making room can let other threads run, which allocate custom blocks, and so can the hook: room in
 * the list is made after that, and directly before the block is cut. NULL if there is no memory. */
static wn_value *allocate_young_custom(struct wn_domain *domain, size_t words, const void *frame) {
  for (bool tried = false;; tried = true) {
    if (!allocate_has_room(domain, words + 1) && !allocate_room(domain, words + 1)) return NULL;
    if (customs_reserve(domain)) break;
    if (tried || !shortage_of_memory(domain, words, "no memory for a list of custom blocks")) return NULL;
  }
  domain->frame = frame;
  wn_value *fields = allocate_cut(domain, words, WN_TAG_CUSTOM, WN_SOURCE_NORMAL);
  domain->customs[domain->custom_count++] = (wn_value)fields;
  return fields;
}

/* ---- shared ---- */

bool allocate_custom_is_due(const struct wn_domain *domain, size_t external_bytes) {
  return needs_minor(domain, external_bytes) || needs_slice(domain);
}

wn_ref allocate_custom(struct wn_domain *domain, const wn_custom_ops *ops, size_t bytes,
                       size_t external_bytes, const void *frame) {
  size_t words = CUSTOM_WORDS + bytes / 8 + (bytes % 8 != 0);
  wn_ref null = {NULL};
  if (!caller_may(domain, "alloc custom")) return null;
  struct wn_heap *heap = domain->heap;
  if (!ops || words > WN_MAX_WORDS) {
    error_set(WN_EINVAL,
              ops ? "alloc custom: more than WN_MAX_WORDS words" : "alloc custom: the operations are NULL");
    return null;
  }
  if (allocate_custom_is_due(domain, external_bytes)) major_collect_and_slice(domain, STOP_EXTERNAL);
  bool zeroed, young = is_young(domain, words, external_bytes);
  wn_value *fields = young ? allocate_young_custom(domain, words, frame)
                           : allocate_old(domain, words, WN_TAG_CUSTOM, frame, &zeroed);
  if (!fields) return null;
  memset(fields, 0, words * 8);
  *(struct custom *)fields = (struct custom){ops, external_bytes};
  atomic_fetch_add(&heap->store.external, external_bytes);
  if (young) {
    domain->young_external += external_bytes;
  } else {
    domain->external_words += customs_count_old(heap, external_bytes);
  }
  domain->frame = frame;
  if (external_bytes) host_born_outside(domain, (wn_value)fields, external_bytes);
  return wn_root(domain, (wn_value)fields);
}

/* ---- public ---- */

OWN_FRAME wn_ref wn_alloc_custom(wn_domain *domain, const wn_custom_ops *ops, size_t bytes,
                                 size_t external_bytes) {
  DEBUG_DOMAIN(domain);
  wn_ref made = allocate_custom(domain, ops, bytes, external_bytes, __builtin_frame_address(0));
  FRAME_ENDS;
  return made;
}
/* SPDX-License-Identifier: MIT */
