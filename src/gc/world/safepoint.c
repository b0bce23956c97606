/* Claiming, blocking and releasing domains. */
#include "gc/world/safepoint.h"

#include "gc/world/backoff.h"
#include "gc/world/debug.h"

static bool state_is(struct wn_domain *domain, uint32_t state) {
  return atomic_load(&domain->state) == state;
}

static bool change(struct wn_domain *domain, uint32_t from, uint32_t to) {
  return atomic_compare_exchange_strong(&domain->state, &from, to);
}

static struct backoff backoff_of(const struct wn_heap *heap) { return backoff_begin(world_may_spin(heap)); }

/* Claims a domain as soon as it is blocked. */
static void claim(struct wn_heap *heap, struct wn_domain *domain) {
  struct backoff backoff = backoff_of(heap);
  for (;;) {
    uint32_t arrivals = atomic_load(&heap->arrivals);
    DEBUG_STEP(heap);
    if (change(domain, DOMAIN_BLOCKED, DOMAIN_CLAIMED)) return;
    if (!backoff_step(&backoff) && state_is(domain, DOMAIN_RUNNING)) futex_wait(&heap->arrivals, arrivals);
  }
}

static void leave(struct wn_domain *domain) {
  if (atomic_exchange(&domain->state, DOMAIN_BLOCKED) == DOMAIN_CLAIMED_AWAITED)
    futex_wake(&domain->state, INT32_MAX);
}

/* Waits until no leader claims the domain. */
static void await(struct wn_domain *domain) {
  struct backoff backoff = backoff_of(domain->heap);
  for (;;) {
    uint32_t state = atomic_load(&domain->state);
    if (state == DOMAIN_BLOCKED) return;
    if (backoff_step(&backoff)) continue;
    if (state == DOMAIN_CLAIMED_AWAITED || change(domain, DOMAIN_CLAIMED, DOMAIN_CLAIMED_AWAITED))
      futex_wait(&domain->state, DOMAIN_CLAIMED_AWAITED);
  }
}

/* Blocks the domain, and wakes a leader that waits for it. */
static void give_up(struct wn_domain *domain) {
  struct wn_heap *heap = domain->heap;
  DEBUG_STEP(heap);
  atomic_store(&domain->state, DOMAIN_BLOCKED);
  DEBUG_STEP(heap);
  if (!world_is_stopping(heap)) return;
  atomic_fetch_add(&heap->arrivals, 1);
  futex_wake(&heap->arrivals, 1);
}

/* Unblocks the domain. Returns when the thread began to wait for a leader; 0 if it did not wait. */
static uint64_t take_back(struct wn_domain *domain) {
  uint64_t began = 0;
  while (!change(domain, DOMAIN_BLOCKED, DOMAIN_RUNNING)) {
    if (!began) began = os_monotonic_ns();
    await(domain);
  }
  DEBUG_STEP(domain->heap);
  domain_reset_limit(domain);
  return began;
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
  give_up(domain);
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
  give_up(domain);
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
  uint64_t began = event_clock(&heap->events, EVENT_STOP_BEGINS);
  uint32_t not = STOPPING_NOT;
  if (!atomic_compare_exchange_strong(&heap->stopping, &not, STOPPING)) {
    world_wait(domain);
    return false;
  }
  if (!began) began = event_clock(&heap->events, EVENT_STOP_BEGINS); /* a listener came meanwhile */
  DEBUG_STEP(heap);
  lock_acquire(&heap->world, LOCK_RANK_WORLD);
  if (heap->domain_count > 1) domain_before_raising(heap);
  for (struct wn_domain *other = domain_first(heap); other; other = domain_next(other))
    if (other != domain) domain_raise_limit(other);
  for (struct wn_domain *other = domain_first(heap); other; other = domain_next(other)) {
    if (other == domain) continue;
    DEBUG_STEP(heap);
    claim(heap, other);
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
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    if (domain != leader) leave(domain);
  DEBUG_STEP(heap);
  atomic_store(&heap->stopping, STOPPING_NOT);
  DEBUG_STEP(heap);
  lock_release(&heap->world, LOCK_RANK_WORLD);
  if (others) futex_wake(&heap->stopping, INT32_MAX);
  domain_reset_limit(leader);
}
/* SPDX-License-Identifier: MIT */
