/* The out-of-line parts of stores into fields. */
#include "gc/collect/barrier.h"

#include "base/error.h"
#include "gc/domains/caller.h"
#include "gc/domains/debug.h"

/* Checks only that the domain has a heap, which a domain that has ended has not: stores into old
 * blocks are frequent. */
void wn_set_slow(wn_domain *domain, wn_value block, size_t i, wn_value value) {
  if (__builtin_expect(!domain->heap, 0)) {
    caller_check(domain, "set");
    return;
  }
  DEBUG_STEP(domain->heap);
  barrier_store(domain, (wn_value *)block + i, value);
}

/* ---- many fields ---- */

/* Stores into fields of one block. Those of a young block need no barrier. If the stores are to more
 * than half of an old block, it enters the remembered set as a whole. */
struct stores {
  struct wn_domain *domain;
  wn_value *fields;
  bool marks, whole, remembers;
};

static struct stores stores_begin(struct wn_domain *domain, wn_value block, size_t n) {
  const struct wn_heap *heap = domain->heap;
  bool old = !heap_is_young(heap, block);
  return (struct stores){.domain = domain,
                         .fields = (wn_value *)block,
                         .marks = old && heap_phase(heap) == PHASE_MARK,
                         .whole = n > wn_words(block) / 2,
                         .remembers = old};
}

static void barrier_remember(struct stores *stores, wn_value *field) {
  if (stores->whole) {
    remembered_add_block(&stores->domain->remembered, stores->fields);
    stores->remembers = false;
  } else {
    remembered_add(&stores->domain->remembered, field);
  }
}

static inline void stores_put(struct stores *stores, size_t i, wn_value value) {
  struct wn_heap *heap = stores->domain->heap;
  wn_value *field = stores->fields + i, old = field_load(field);
  if (stores->marks && !(old & 1)) mark_value(heap, domain_marker(stores->domain), old);
  if (stores->remembers && heap_is_young(heap, value) && !heap_is_young(heap, old))
    barrier_remember(stores, field);
  field_store(field, value);
}

static wn_status barrier_check_fields(struct wn_domain *domain, wn_value block, size_t i, size_t n,
                                      const char *what) {
  if (CHECKS) debug_check_value(domain, block, what);
  size_t words = wn_is_int(block) ? 0 : wn_scanned_words(block);
  bool begins = i || !words || wn_tag(block) != WN_TAG_MIXED; /* whose field 0 is no program's */
  if (begins && i <= words && n <= words - i) return WN_OK;
  return error_set(WN_EINVAL, "%s: %zu fields from %zu on, and there are %zu", what, n, i, words);
}

wn_status wn_fill(wn_domain *domain, wn_value block, size_t i, size_t n, wn_value value) {
  wn_status status = caller_check(domain, "fill");
  if (!status) status = barrier_check_fields(domain, block, i, n, "fill");
  if (status || !n) return status;
  if (CHECKS) debug_check_value(domain, value, "fill");
  struct stores stores = stores_begin(domain, block, n);
  for (size_t k = 0; k < n; k++) stores_put(&stores, i + k, value);
  return WN_OK;
}

wn_status wn_blit(wn_domain *domain, wn_value from, size_t i, wn_value to, size_t j, size_t n) {
  wn_status status = caller_check(domain, "blit");
  if (!status) status = barrier_check_fields(domain, from, i, n, "blit");
  if (!status) status = barrier_check_fields(domain, to, j, n, "blit");
  if (status || !n) return status;
  struct stores stores = stores_begin(domain, to, n);
  if (from == to && i < j)
    for (size_t k = n; k--;) stores_put(&stores, j + k, wn_field_of(from, i + k));
  else
    for (size_t k = 0; k < n; k++) stores_put(&stores, j + k, wn_field_of(from, i + k));
  return WN_OK;
}

/* ---- compare and swap ---- */

/* Does what the barrier must do before the exchange. Two domains can exchange the same field: then
 * the remembered set can get the field twice, or get it although the exchange fails. Both are
 * harmless. */
bool wn_cas(wn_domain *domain, wn_ref block, size_t i, wn_ref expected, wn_ref desired) {
  DEBUG_HANDLE(domain, block);
  DEBUG_HANDLE(domain, expected);
  DEBUG_HANDLE(domain, desired);
  DEBUG_FIELD(block, i);
  if (!caller_may(domain, "cas")) return false;
  if (wn_is_null(block) || wn_is_null(expected) || wn_is_null(desired) || (*block.slot & 1)) {
    error_set(WN_EINVAL, "cas: a handle is null, or of no block");
    return false;
  }
  wn_value *field = (wn_value *)*block.slot + i, old = *expected.slot;
  if (!heap_is_young(domain->heap, *block.slot)) {
    if (__atomic_load_n(field, __ATOMIC_SEQ_CST) != old) return false;
    barrier_before(domain, field, old, *desired.slot);
    /* By the time of the exchange the field may have held another value and have `old` again. If
     * that other value was young, the field is in a remembered set. It stays there, since sets are
     * emptied at safepoints only. */
  }
  return __atomic_compare_exchange_n(field, &old, *desired.slot, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
/* SPDX-License-Identifier: MIT */
