/* Custom blocks: allocation, and changes of what they have outside. */
#include "base/error.h"
#include "gc/api/allocate.h"
#include "gc/collect/customs.h"
#include "gc/collect/major.h"
#include "gc/domains/caller.h"
#include "gc/domains/debug.h"
#include "gc/domains/host.h"
#include "gc/domains/shortage.h"
#include "gc/domains/stress.h"
#include <string.h>

/* Young blocks have more external memory than a minor heap is worth, by the ratio. */
static bool needs_minor(const struct wn_domain *domain, size_t external_bytes) {
  const struct wn_heap *heap = domain->heap;
  double most =
      (double)(atomic_load(&heap->minor_words) * 8) * (double)heap->control.custom_minor_ratio / 100;
  return domain->young_external && (double)(domain->young_external + external_bytes) > most;
}

static bool is_young(const struct wn_domain *domain, size_t words, size_t external_bytes) {
  return words <= WN_MAX_YOUNG_WORDS && external_bytes <= (size_t)domain->heap->control.custom_minor_max_size;
}

/* Making room can let other threads run, which allocate custom blocks, and so can the hook: room in
 * the list is made after that, and directly before the block is cut. NULL if there is no memory. */
static wn_value *allocate_young_custom(struct wn_domain *domain, size_t words, const wn_custom_ops *ops,
                                       const void *frame) {
  for (bool tried = false;; tried = true) {
    if (!allocate_has_room(domain, words + 1) && !allocate_room(domain, words + 1)) return NULL;
    if (customs_reserve(domain)) break;
    if (tried || !shortage_of_memory(domain, words, "no memory for a list of custom blocks")) return NULL;
  }
  domain->frame = frame;
  domain->custom = ops;
  wn_value *fields = allocate_cut(domain, words, WN_TAG_CUSTOM, WN_SOURCE_NORMAL);
  domain->customs[domain->custom_count++] = (wn_value)fields;
  return fields;
}

static wn_status too_much(const char *what) {
  return error_set(WN_EINVAL, "%s: more bytes outside than there are addresses", what);
}

/* ---- changes of what a block has outside ---- */

static bool is_custom(wn_ref block) {
  return !wn_is_null(block) && !wn_is_int(*block.slot) && wn_tag(*block.slot) == WN_TAG_CUSTOM;
}

static struct custom *custom_of(wn_ref block) { return (struct custom *)*block.slot; }

/* Returns what it was; CUSTOM_TRACKED stays. */
static size_t exchange_external(struct custom *custom, size_t external_bytes) {
  size_t before = atomic_load(&custom->external_bytes);
  while (!atomic_compare_exchange_weak(&custom->external_bytes, &before,
                                       external_bytes | (before & CUSTOM_TRACKED))) {}
  return before & EXTERNAL_MOST;
}

static void custom_grow(struct wn_domain *domain, wn_value block, size_t bytes) {
  atomic_fetch_add(&domain->heap->store.external, bytes);
  if (heap_is_young(domain->heap, block))
    domain->young_external += bytes;
  else
    domain->external_words += customs_count_old(domain->heap, bytes);
  host_born_outside(domain, block, bytes);
}

/* The block may be young in another domain, where its bytes were counted: so what this domain has
 * counted may be less. Both counts begin again at the next minor collection. */
static void custom_shrink(struct wn_domain *domain, wn_value block, size_t from, size_t to) {
  size_t bytes = from - to;
  atomic_fetch_sub(&domain->heap->store.external, bytes);
  if (custom_is_tracked((const struct custom *)block)) host_outside_shrank(domain, block, from, to);
  if (!heap_is_young(domain->heap, block))
    customs_count_shrink(domain->heap, bytes);
  else
    domain->young_external -= bytes < domain->young_external ? bytes : domain->young_external;
}

/* Another domain may adjust the block at any time, so only the exchange says by how much this call
 * changes it. */
static wn_status adjust(struct wn_domain *domain, wn_ref block, size_t external_bytes, const void *frame) {
  wn_status status = caller_check(domain, "custom adjust");
  if (status) return status;
  debug_check_given(domain, block, "wn_custom_adjust");
  if (!is_custom(block)) return error_set(WN_EINVAL, "custom adjust: the handle is of no custom block");
  if (external_bytes > EXTERNAL_MOST) return too_much("custom adjust");
  if (CHECKS) stress_point(domain, STRESS_ALLOCATION);
  size_t before = custom_external(custom_of(block));
  if (external_bytes > before && allocate_custom_is_due(domain, external_bytes - before))
    major_collect_and_slice(domain, STOP_EXTERNAL);
  domain->frame = frame;
  before = exchange_external(custom_of(block), external_bytes);
  if (external_bytes > before) custom_grow(domain, *block.slot, external_bytes - before);
  if (external_bytes < before) custom_shrink(domain, *block.slot, before, external_bytes);
  return WN_OK;
}

/* ---- shared ---- */

bool allocate_custom_is_due(const struct wn_domain *domain, size_t external_bytes) {
  return needs_minor(domain, external_bytes) || major_external_is_due(domain->heap, domain->external_words);
}

wn_ref allocate_custom(struct wn_domain *domain, const wn_custom_ops *ops, size_t bytes,
                       size_t external_bytes, const void *frame) {
  size_t words = CUSTOM_WORDS + bytes / 8 + (bytes % 8 != 0);
  wn_ref null = {NULL};
  if (!caller_may(domain, "alloc custom")) return null;
  struct wn_heap *heap = domain->heap;
  if (external_bytes > EXTERNAL_MOST) return too_much("alloc custom"), null;
  if (!ops || words > WN_MAX_WORDS) {
    error_set(WN_EINVAL,
              ops ? "alloc custom: more than WN_MAX_WORDS words" : "alloc custom: the operations are NULL");
    return null;
  }
  if (allocate_custom_is_due(domain, external_bytes)) major_collect_and_slice(domain, STOP_EXTERNAL);
  bool young = is_young(domain, words, external_bytes);
  wn_value *fields = young ? allocate_young_custom(domain, words, ops, frame)
                           : allocate_old_custom(domain, words, ops, frame);
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

OWN_FRAME wn_status wn_custom_adjust(wn_domain *domain, wn_ref block, size_t external_bytes) {
  DEBUG_DOMAIN(domain);
  wn_status status = adjust(domain, block, external_bytes, __builtin_frame_address(0));
  FRAME_ENDS;
  return status;
}
/* SPDX-License-Identifier: MIT */
