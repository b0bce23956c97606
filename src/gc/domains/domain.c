/* Domains: limits, turns, blocking sections. Attaching and detaching are in attach.c.
 *
 * One thread of a domain runs: the one that has the domain's *turn* (turn.h), which blocking
 * sections give. */
#include "gc/domains/domain.h"

#include "base/error.h"
#include "gc/domains/caller.h"
#include "gc/domains/debug.h"
#include "gc/domains/futex.h"
#include "gc/domains/host.h"
#include "gc/domains/safepoint.h"
#include "gc/domains/stress.h"

/* ---- shared ---- */

void domain_reset_limit(struct wn_domain *domain) {
  const struct wn_heap *heap = domain->heap;
  bool raised = atomic_load(&heap->starved) || heap_collects_by_stress(heap);
  char *limit = raised ? (char *)UINTPTR_MAX : domain_allocation_end(domain);
  __atomic_store_n(&domain->context.young_limit, limit, __ATOMIC_SEQ_CST);
  if (world_is_stopping(heap) || turn_must_yield(&domain->turn)) domain_raise_limit(domain);
}

void domain_yield(struct wn_domain *domain) {
  struct domain_thread *thread = domain->running;
  thread_pause(thread);
  turn_yield(domain);
  thread_run(thread);
}

void domain_await_others(struct wn_domain *domain) {
  uint32_t left;
  wn_blocking_begin(domain);
  while ((left = atomic_load(&domain->others))) futex_wait(&domain->others, left);
  wn_blocking_end(domain);
}

/* ---- public ---- */

/* Any thread may call wn_domain_number and wn_domain_data, also when the domain has ended. */
static bool domain_has_ended(const wn_domain *domain, const char *what) {
  if (domain && domain->heap) return false;
  error_set(WN_EINVAL, "%s: the domain %s", what, domain ? "has ended" : "is NULL");
  return true;
}

uint64_t wn_domain_number(const wn_domain *domain) {
  return domain_has_ended(domain, "domain number") ? UINT64_MAX : domain->number;
}

void *wn_domain_data(const wn_domain *domain) {
  return domain_has_ended(domain, "domain data") ? NULL : domain->data;
}

void wn_domain_set_data(wn_domain *domain, void *data) {
  DEBUG_DOMAIN(domain);
  if (caller_may(domain, "domain data")) domain->data = data;
}

void wn_blocking_begin(wn_domain *domain) {
  DEBUG_DOMAIN(domain);
  if (caller_check(domain, "blocking begin")) return;
  if (!domain->running->over) {
    host_run_waiting(domain);
    stress_call(domain);
  }
  domain->running->blocking = true;
  thread_pause(domain->running);
  turn_give(domain);
}

void wn_blocking_end(wn_domain *domain) {
  struct domain_thread *thread = thread_in(domain);
  bool blocking = thread && thread->blocking;
  if (CHECKS && !blocking)
    debug_complain(__func__, "the calling thread is in no blocking section of the domain");
  if (!blocking) {
    error_set(WN_ESTATE, "blocking end: the calling thread is in no blocking section of the domain");
    return;
  }
  turn_take(domain);
  thread->blocking = false;
  thread_run(thread);
}
/* SPDX-License-Identifier: MIT */
