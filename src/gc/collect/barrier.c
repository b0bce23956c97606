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
