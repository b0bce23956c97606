/* Claiming, blocking and releasing domains. */
#include "gc/domains/safepoint.h"

#include "gc/domains/backoff.h"
#include "gc/domains/debug.h"
#include "gc/events/hooks.h"

static bool state_is(struct wn_domain *domain, uint32_t state) {
  return atomic_load(&domain->state) == state;
}

static bool safepoint_change(struct wn_domain *domain, uint32_t from, uint32_t to) {
  return atomic_compare_exchange_strong(&domain->state, &from, to);
}

static struct backoff backoff_of(const struct wn_heap *heap) { return backoff_begin(world_may_spin(heap)); }

/* Claims a domain as soon as it is blocked. False if its thread forks (FORK). */
static bool safepoint_claim(struct wn_heap *heap, struct wn_domain *domain) {
  struct backoff backoff = backoff_of(heap);
  for (;;) {
    uint32_t arrivals = atomic_load(&heap->arrivals);
    DEBUG_STEP(heap);
    if (safepoint_change(domain, DOMAIN_BLOCKED, DOMAIN_CLAIMED)) return true;
    if (atomic_load(&domain->forking)) return false;
    if (!backoff_step(&backoff) && state_is(domain, DOMAIN_RUNNING)) futex_wait(&heap->arrivals, arrivals);
  }
}

/* A domain that is `forking` was not claimed, and is running. */
static void safepoint_leave(struct wn_domain *domain) {
  if (state_is(domain, DOMAIN_RUNNING)) return;
  if (atomic_exchange(&domain->state, DOMAIN_BLOCKED) == DOMAIN_CLAIMED_AWAITED)
    futex_wake(&domain->state, INT32_MAX);
}

/* Waits until no leader claims the domain. */
static void safepoint_await(struct wn_domain *domain) {
  struct backoff backoff = backoff_of(domain->heap);
  for (;;) {
    uint32_t state = atomic_load(&domain->state);
    if (state == DOMAIN_BLOCKED) return;
    if (backoff_step(&backoff)) continue;
    if (state == DOMAIN_CLAIMED_AWAITED || safepoint_change(domain, DOMAIN_CLAIMED, DOMAIN_CLAIMED_AWAITED))
      futex_wait(&domain->state, DOMAIN_CLAIMED_AWAITED);
  }
}

static void tell_leader(struct wn_heap *heap) {
  if (!world_is_stopping(heap)) return;
  atomic_fetch_add(&heap->arrivals, 1);
  futex_wake(&heap->arrivals, 1);
}

/* Blocks the domain, and wakes a leader that waits for it. */
static void safepoint_give_up(struct wn_domain *domain) {
  struct wn_heap *heap = domain->heap;
  DEBUG_STEP(heap);
  atomic_store(&domain->state, DOMAIN_BLOCKED);
  DEBUG_STEP(heap);
  tell_leader(heap);
}

/* Unblocks the domain. Returns when the thread began to wait for a leader, of event_clock; 0 if it
 * did not wait. */
static uint64_t take_back(struct wn_domain *domain) {
  uint64_t began = 0;
  while (!safepoint_change(domain, DOMAIN_BLOCKED, DOMAIN_RUNNING)) {
    if (!began) began = event_clock(&domain->heap->events, EVENT_PAUSE_BEGINS);
    safepoint_await(domain);
  }
  DEBUG_STEP(domain->heap);
  domain_reset_limit(domain);
  return began;
}

/* Raises the limits of all domains but the leader's, and claims them. Returns the first whose thread
 * forks; if `forks`, none. */
static struct wn_domain *claim_all(struct wn_heap *heap, struct wn_domain *leader, bool forks) {
  if (heap->domain_count > 1 || !leader) domain_before_raising(heap);
  for (struct wn_domain *other = domain_first(heap); other; other = domain_next(other))
    if (other != leader) domain_raise_limit(other);
  for (struct wn_domain *other = domain_first(heap); other; other = domain_next(other)) {
    if (other == leader) continue;
    DEBUG_STEP(heap);
    if (!safepoint_claim(heap, other) && !forks) return other;
  }
  return NULL;
}

/* Leaves the domains before `end`, all if it is NULL, but the leader's. */
static void leave_all(struct wn_heap *heap, struct wn_domain *leader, struct wn_domain *end) {
  for (struct wn_domain *domain = domain_first(heap); domain != end; domain = domain_next(domain))
    if (domain != leader) safepoint_leave(domain);
  DEBUG_STEP(heap);
  atomic_store(&heap->stopping, STOPPING_NOT);
  DEBUG_STEP(heap);
}

/* FORK, step 2. `forking` is read through a domain that may have ended meanwhile: its memory stays a
 * domain's. */
static void back_out(struct wn_domain *leader, struct wn_domain *forking) {
  struct wn_heap *heap = leader->heap;
  leave_all(heap, leader, forking);
  lock_release(&heap->world, LOCK_RANK_WORLD);
  futex_wake(&heap->stopping, INT32_MAX);
  domain_reset_limit(leader);
  while (atomic_load(&forking->forking) && !world_is_stopping(heap)) sched_yield();
}

static void note_processor(struct wn_domain *domain, int processor) {
  struct wn_heap *heap = domain->heap;
  if (heap->notes_processors)
    atomic_store_explicit(&heap->processor_of[domain->index], processor, memory_order_relaxed);
}

/* ---- shared ---- */

void domain_note_processor(struct wn_domain *domain) {
  if (domain->heap->notes_processors) note_processor(domain, sched_getcpu() + 1);
}

void domain_block(struct wn_domain *domain) {
  atomic_fetch_sub_explicit(&domain->heap->awake, 1, memory_order_relaxed);
  domain->awake = false;
  note_processor(domain, 0);
  safepoint_give_up(domain);
}

void domain_unblock(struct wn_domain *domain) {
  uint64_t began = take_back(domain);
  atomic_fetch_add_explicit(&domain->heap->awake, 1, memory_order_relaxed);
  domain->awake = true;
  domain_note_processor(domain);
  event_pause_begins(&domain->heap->events, domain, PAUSE_STOP, began);
  event_pause_ends(&domain->heap->events, domain, PAUSE_STOP, began);
}

void domain_suspend(struct wn_domain *domain) {
  domain->running->top = domain->context.top;
  safepoint_give_up(domain);
}

void domain_resume(struct wn_domain *domain) { take_back(domain); }

void world_wait(struct wn_domain *domain) {
  struct wn_heap *heap = domain->heap;
  struct backoff backoff = backoff_of(heap);
  uint32_t stopping;
  uint64_t began = event_pause(&heap->events, domain, PAUSE_STOP);
  domain_suspend(domain);
  while ((stopping = atomic_load(&heap->stopping))) {
    if (stopping == STOPPING_SHARED) heap->shared_collection(domain);
    if (!backoff_step(&backoff)) futex_wait(&heap->stopping, stopping);
  }
  domain_resume(domain);
  event_pause_ends(&heap->events, domain, PAUSE_STOP, began);
}

void world_share_collection(struct wn_heap *heap) {
  if (!world_is_stopping(heap)) return;
  atomic_store(&heap->stopping, STOPPING_SHARED);
  if (heap->processors > 1) futex_wake(&heap->stopping, (int)heap->processors - 1);
}

void world_unshare_collection(struct wn_heap *heap) {
  if (world_is_stopping(heap)) atomic_store(&heap->stopping, STOPPING);
}

bool world_stop(struct wn_domain *domain, enum stop_cause cause) {
  struct wn_heap *heap = domain->heap;
  if (CHECKS && hooks_running) debug_complain("heap", "a hook, a visit or a listener calls what may collect");
  uint64_t began = event_clock(&heap->events, EVENT_STOP_BEGINS);
  uint32_t not = STOPPING_NOT;
  if (!atomic_compare_exchange_strong(&heap->stopping, &not, STOPPING)) {
    world_wait(domain);
    return false;
  }
  if (!began) began = event_clock(&heap->events, EVENT_STOP_BEGINS); /* a listener came meanwhile */
  DEBUG_STEP(heap);
  lock_acquire(&heap->world, LOCK_RANK_WORLD);
  struct wn_domain *forking = claim_all(heap, domain, false);
  if (forking) {
    back_out(domain, forking);
    return false;
  }
  heap->stop_cause = cause;
  heap->stop_began_ns = began;
  event_stop_begins(&heap->events, domain, cause, began);
  return true;
}

/* Threads that wait at safepoints sleep on `stopping`: it is cleared, then they are woken. A domain
 * that attaches needs the lock `world`, so there is none to wake if there was no other domain. */
void world_release(struct wn_domain *leader) {
  struct wn_heap *heap = leader->heap;
  bool others = heap->domain_count > 1;
  if (heap->stop_began_ns)
    event_stop(&heap->events, EVENT_STOP_ENDS, leader, heap->stop_cause, heap->stop_began_ns);
  leave_all(heap, leader, NULL);
  lock_release(&heap->world, LOCK_RANK_WORLD);
  if (others || atomic_load(&heap->fork_waits)) futex_wake(&heap->stopping, INT32_MAX);
  domain_reset_limit(leader);
}

void domain_begin_fork(struct wn_domain *own) {
  atomic_store(&own->forking, true);
  tell_leader(own->heap);
}

void domain_end_fork(struct wn_domain *own) { atomic_store(&own->forking, false); }

/* A leader that waits for `own` backs out soon. If there is no `own`, a leader may collect first. */
void world_stop_for_fork(struct wn_heap *heap, struct wn_domain *own, struct lock_fork *fork) {
  uint32_t stopping = STOPPING_NOT;
  atomic_store(&heap->fork_waits, !own);
  while (!atomic_compare_exchange_strong(&heap->stopping, &stopping, STOPPING)) {
    if (own)
      sched_yield();
    else
      futex_wait(&heap->stopping, stopping);
    stopping = STOPPING_NOT;
  }
  atomic_store(&heap->fork_waits, false);
  lock_before_fork(&heap->world, LOCK_RANK_WORLD, fork);
  claim_all(heap, own, true);
}

void world_release_after_fork(struct wn_heap *heap, struct wn_domain *own, struct lock_fork *fork) {
  leave_all(heap, own, NULL);
  lock_after_fork(&heap->world, LOCK_RANK_WORLD, fork);
  futex_wake(&heap->stopping, INT32_MAX);
  if (own) domain_reset_limit(own);
}
/* SPDX-License-Identifier: MIT */
