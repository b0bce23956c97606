/* The collections that a program asks for. */
#include "base/error.h"
#include "gc/finaliser.h"
#include "gc/major.h"
#include "gc/safepoint.h"
#include "gc/verify.h"

wn_status wn_gc_minor(wn_domain *domain) {
  major_collect(domain, COLLECT_MINOR);
  finalisers_run_due(domain);
  return WN_OK;
}

long wn_gc_major_slice(wn_domain *domain, long words) {
  major_collect(domain, COLLECT_MINOR);
  size_t computed = major_slice_words(domain->heap);
  major_work(domain, words > 0 ? (size_t)words : computed);
  finalisers_run_due(domain);
  return (long)computed;
}

wn_status wn_gc_major(wn_domain *domain) {
  major_finish_cycle(domain);
  finalisers_run_due(domain);
  return WN_OK;
}

/* Twice: the second time for what finalisers let go. */
wn_status wn_gc_full_major(wn_domain *domain) {
  for (int round = 0; round < 2; round++) {
    major_full(domain);
    finalisers_run_due(domain);
  }
  atomic_fetch_add(&domain->heap->forced_major_collections, 1);
  return WN_OK;
}

wn_status wn_gc_compact(wn_domain *domain) {
  wn_status status = wn_gc_full_major(domain);
  if (!status) chunks_trim(&domain->heap->chunks, 0);
  return status;
}

wn_status wn_gc_verify(wn_domain *domain, FILE *report) {
  struct wn_heap *heap = domain->heap;
  while (!world_stop(domain)) {}
  unsigned long complaints = verify_heap(heap, report);
  world_release(domain);
  return complaints ? error_set(WN_EFORMAT, "verify: %lu invariants of the heap do not hold", complaints)
                    : WN_OK;
}
/* SPDX-License-Identifier: MIT */
