/* Collections on request. */
#include "base/error.h"
#include "gc/collect/finaliser.h"
#include "gc/collect/major.h"
#include "gc/collect/verify.h"
#include "gc/domains/caller.h"
#include "gc/domains/stress.h"

/* Nothing is done while an exception is pending, since callbacks could not run. The exception may
 * leave here. */
static wn_status gc_begin(wn_domain *domain, const char *what) {
  wn_status status = caller_check(domain, what);
  if (!status) stress_call(domain);
  if (!status && turn_must_yield(&domain->turn)) domain_yield(domain);
  return status || !exception_is_pending(domain) ? status : exception_leave(domain);
}

wn_status wn_gc_minor(wn_domain *domain) {
  wn_status status = gc_begin(domain, "minor");
  if (status) return status;
  major_collect(domain, COLLECT_MINOR, STOP_REQUEST);
  return finalisers_run_pending(domain);
}

/* Work that is requested needs a cycle: if none is in progress, one begins. */
long wn_gc_major_slice(wn_domain *domain, long words) {
  if (caller_check(domain, "major slice")) return 0;
  stress_call(domain);
  major_collect(domain, words > 0 ? COLLECT_MINOR | COLLECT_CYCLE : COLLECT_MINOR, STOP_REQUEST);
  const struct events *events = &domain->heap->events;
  size_t computed = major_slice_words(domain->heap);
  uint64_t began = event_pause(events, domain, PAUSE_SLICE);
  event_slice(events, domain, computed, major_work(domain, words > 0 ? (size_t)words : computed));
  event_pause_ends(events, domain, PAUSE_SLICE, began);
  finalisers_run_pending(domain);
  return (long)computed;
}

wn_status wn_gc_major(wn_domain *domain) {
  wn_status status = gc_begin(domain, "major");
  if (status) return status;
  major_finish_cycle(domain, STOP_REQUEST);
  return finalisers_run_pending(domain);
}

/* One full collection: values that finalisers let go wait for the next call. */
static wn_status full_major(wn_domain *domain, const char *what) {
  wn_status status = gc_begin(domain, what);
  if (status) return status;
  major_full(domain, STOP_REQUEST);
  status = finalisers_run_pending(domain);
  if (status) return status;
  atomic_fetch_add(&domain->heap->forced_major_collections, 1);
  return WN_OK;
}

wn_status wn_gc_full_major(wn_domain *domain) { return full_major(domain, "full major"); }

wn_status wn_gc_compact(wn_domain *domain) {
  wn_status status = full_major(domain, "compact");
  if (status) return status;
  major_compact(domain, STOP_REQUEST);
  return finalisers_run_pending(domain);
}

wn_status wn_gc_verify(wn_domain *domain, FILE *report) {
  wn_status status = caller_check(domain, "verify");
  if (status) return status;
  struct wn_heap *heap = domain->heap;
  while (!world_stop(domain, STOP_VERIFY)) {}
  unsigned long complaints = verify_heap(heap, report);
  world_release(domain);
  return complaints ? error_set(WN_EFORMAT, "verify: %lu invariants of the heap do not hold", complaints)
                    : WN_OK;
}
/* SPDX-License-Identifier: MIT */
