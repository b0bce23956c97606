/* Identity hashes: the public function. gc/collect/identity.h has the design. */
#include "base/error.h"
#include "gc/collect/collector.h"
#include "gc/domains/caller.h"
#include "gc/domains/debug.h"

uint64_t wn_identity_hash(wn_domain *domain, wn_value block) {
  if (caller_check(domain, "identity hash")) return 0;
  if (wn_is_int(block)) return error_set(WN_EINVAL, "identity hash: the value is an integer"), 0;
  if (CHECKS) debug_check_value(domain, block, __func__);
  uint64_t hash = identities_hash(domain->heap, block);
  if (!hash) error_set(WN_ENOMEM, "identity hash: no memory for a table");
  return hash;
}
/* SPDX-License-Identifier: MIT */
