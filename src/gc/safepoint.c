/* Stopping the world. */
#include "gc/safepoint.h"

#include "gc/debug.h"
#include "gc/futex.h"
#include "gc/minor.h"
#include <sched.h>

enum { SPINS = 2000 };

static bool state_is(struct wn_domain *domain, uint32_t state) {
  return atomic_load(&domain->state) == state;
}

static bool change(struct wn_domain *domain, uint32_t from, uint32_t to) {
  return atomic_compare_exchange_strong(&domain->state, &from, to);
}

/* Claims a domain as soon as it is blocked. */
static void claim(struct wn_heap *heap, struct wn_domain *domain) {
  unsigned spins = world_may_spin(heap) ? SPINS : 0;
  for (;;) {
    uint32_t arrivals = atomic_load(&heap->arrivals);
    DEBUG_STEP(heap);
    if (change(domain, DOMAIN_BLOCKED, DOMAIN_CLAIMED)) return;
    if (spins) {
      spins--;
      spin_pause();
    } else if (state_is(domain, DOMAIN_RUNNING)) {
      futex_wait(&heap->arrivals, arrivals);
    }
  }
}

static void leave(struct wn_domain *domain) {
  if (atomic_exchange(&domain->state, DOMAIN_BLOCKED) == DOMAIN_CLAIMED_AWAITED)
    futex_wake(&domain->state, INT32_MAX);
}

/* Waits until nobody claims the domain. */
static void await(struct wn_domain *domain) {
  unsigned spins = world_may_spin(domain->heap) ? SPINS : 0;
  for (;;) {
    uint32_t state = atomic_load(&domain->state);
    if (state == DOMAIN_BLOCKED) return;
    if (spins) {
      spins--;
      spin_pause();
    } else if (state == DOMAIN_CLAIMED_AWAITED || change(domain, DOMAIN_CLAIMED, DOMAIN_CLAIMED_AWAITED)) {
      futex_wait(&domain->state, DOMAIN_CLAIMED_AWAITED);
    }
  }
}

/* The domain is blocked, and says so to a leader that waits for it. */
static void give_up(struct wn_domain *domain) {
  struct wn_heap *heap = domain->heap;
  DEBUG_STEP(heap);
  atomic_store(&domain->state, DOMAIN_BLOCKED);
  DEBUG_STEP(heap);
  if (!world_is_stopping(heap)) return;
  atomic_fetch_add(&heap->arrivals, 1);
  futex_wake(&heap->arrivals, 1);
}

static void take_back(struct wn_domain *domain) {
  while (!change(domain, DOMAIN_BLOCKED, DOMAIN_RUNNING)) await(domain);
  DEBUG_STEP(domain->heap);
  domain_reset_limit(domain);
}

/* ---- shared ---- */

void domain_block(struct wn_domain *domain) {
  atomic_fetch_sub_explicit(&domain->heap->awake, 1, memory_order_relaxed);
  domain->awake = false;
  give_up(domain);
}

void domain_unblock(struct wn_domain *domain) {
  take_back(domain);
  atomic_fetch_add_explicit(&domain->heap->awake, 1, memory_order_relaxed);
  domain->awake = true;
}

void world_wait(struct wn_domain *domain) {
  struct wn_heap *heap = domain->heap;
  unsigned spins = world_may_spin(heap) ? SPINS : 0;
  uint32_t stopping;
  domain->running->top = domain->face.top;
  give_up(domain);
  while ((stopping = atomic_load(&heap->stopping))) {
    if (stopping == STOPPING_HELP) minor_help(heap, domain);
    if (spins) {
      spins--;
      spin_pause();
    } else {
      futex_wait(&heap->stopping, stopping);
    }
  }
  take_back(domain);
}

void world_ask_for_help(struct wn_heap *heap) {
  if (!world_is_stopping(heap)) return;
  atomic_store(&heap->stopping, STOPPING_HELP);
  if (heap->processors > 1) futex_wake(&heap->stopping, (int)heap->processors - 1);
}

void world_end_help(struct wn_heap *heap) {
  if (world_is_stopping(heap)) atomic_store(&heap->stopping, STOPPING);
}

bool world_stop(struct wn_domain *domain) {
  struct wn_heap *heap = domain->heap;
  uint32_t not = STOPPING_NOT;
  if (!atomic_compare_exchange_strong(&heap->stopping, &not, STOPPING)) {
    world_wait(domain);
    return false;
  }
  DEBUG_STEP(heap);
  lock_acquire(&heap->world, LOCK_RANK_WORLD);
  for (unsigned i = 0; i < DOMAINS_MOST; i++)
    if (heap->domains[i] && heap->domains[i] != domain) domain_raise_limit(heap->domains[i]);
  for (unsigned i = 0; i < DOMAINS_MOST; i++) {
    if (!heap->domains[i] || heap->domains[i] == domain) continue;
    DEBUG_STEP(heap);
    claim(heap, heap->domains[i]);
  }
  return true;
}

/* Those that wait at safepoints sleep on `stopping`: they are let go first, and woken then. A domain that attaches needs the
 * lock, so there is nobody to wake if there was no other domain before. */
void world_release(struct wn_domain *leader) {
  struct wn_heap *heap = leader->heap;
  bool others = heap->domain_count > 1;
  for (unsigned i = 0; i < DOMAINS_MOST; i++)
    if (heap->domains[i] && heap->domains[i] != leader) leave(heap->domains[i]);
  DEBUG_STEP(heap);
  atomic_store(&heap->stopping, STOPPING_NOT);
  DEBUG_STEP(heap);
  lock_release(&heap->world, LOCK_RANK_WORLD);
  if (others) futex_wake(&heap->stopping, INT32_MAX);
  domain_reset_limit(leader);
}
/* SPDX-License-Identifier: MIT */
