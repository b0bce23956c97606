/* Pins: the public functions. gc/collect/pins.h has the design. */
#include "base/error.h"
#include "gc/collect/collector.h"
#include "gc/domains/caller.h"
#include "gc/domains/debug.h"
#include "gc/domains/stress.h"

static wn_status pin_check(wn_domain *domain, wn_ref block, const char *what) {
  wn_status status = caller_check(domain, what);
  if (status) return status;
  if (wn_is_null(block) || wn_is_int(*block.slot))
    return error_set(WN_EINVAL, "%s: the handle is null, or of no block", what);
  return WN_OK;
}

/* ---- public ---- */

wn_status wn_pin(wn_domain *domain, wn_ref block) {
  DEBUG_HANDLE(domain, block);
  wn_status status = pin_check(domain, block, "pin");
  if (status) return status;
  stress_call(domain);
  while (heap_is_young(domain->heap, *block.slot)) major_collect(domain, COLLECT_MINOR, STOP_REQUEST);
  return pins_add(domain->heap, *block.slot) ? WN_OK : error_set(WN_ENOMEM, "pin: no memory for a pin");
}

wn_status wn_unpin(wn_domain *domain, wn_ref block) {
  DEBUG_HANDLE(domain, block);
  wn_status status = pin_check(domain, block, "unpin");
  if (status) return status;
  return pins_remove(domain->heap, *block.slot) ? WN_OK : error_set(WN_EINVAL, "unpin: it is not pinned");
}
/* SPDX-License-Identifier: MIT */
