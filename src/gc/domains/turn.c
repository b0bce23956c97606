/* Taking, giving and requesting the turn. */
#include "gc/domains/turn.h"

#include "gc/domains/debug.h"
#include "gc/domains/domain.h"
#include "gc/domains/futex.h"
#include <time.h>

enum { TICK_MS = 10 };

static uint32_t bit_of(uint32_t ticket) { return (uint32_t)1 << ticket % 32; }

static struct timespec in_ticks(uint32_t ticks) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  uint64_t ms = (uint64_t)ticks * TICK_MS + (uint64_t)time.tv_nsec / 1000000;
  time.tv_sec += (time_t)(ms / 1000);
  time.tv_nsec = (long)(ms % 1000 * 1000000) + time.tv_nsec % 1000000;
  return time;
}

/* YIELD REQUEST. */
static void request_yield(struct wn_domain *domain, uint32_t ticket) {
  atomic_store(&domain->turn.yield_requests[ticket % 2], ticket);
  DEBUG_STEP(domain->heap);
  domain_before_raising(domain->heap);
  domain_raise_limit(domain);
  atomic_fetch_add_explicit(&domain->turn.requests, 1, memory_order_relaxed);
}

static uint32_t take_ticket(struct wn_domain *domain) {
  uint32_t ticket = atomic_fetch_add(&domain->turn.next_ticket, 1);
  DEBUG_STEP(domain->heap);
  return ticket;
}

/* TICK. */
static void turn_await(struct wn_domain *domain, uint32_t ticket) {
  struct turn *turn = &domain->turn;
  uint32_t serving = atomic_load(&turn->now_serving);
  if (serving == ticket) return;
  struct timespec until = in_ticks(ticket - serving);
  bool requested = false;
  for (; serving != ticket; serving = atomic_load(&turn->now_serving)) {
    DEBUG_STEP(domain->heap);
    if (futex_wait_until(&turn->now_serving, serving, bit_of(ticket), requested ? NULL : &until)) continue;
    serving = atomic_load(&turn->now_serving);
    DEBUG_STEP(domain->heap);
    if (ticket - serving == 1) {
      request_yield(domain, serving);
      requested = true;
    } else if (ticket != serving) {
      until = in_ticks(ticket - serving);
    }
  }
}

/* ---- shared ---- */

void turn_begin(struct wn_domain *domain) {
  atomic_store(&domain->turn.next_ticket, 1);
  atomic_store(&domain->turn.yield_requests[0], 1); /* an odd ticket: no request */
}

void turn_lose_waiters(struct wn_domain *domain, bool held) {
  struct turn *turn = &domain->turn;
  uint32_t next = atomic_load(&turn->now_serving) + held;
  if (held)
    atomic_store(&turn->next_ticket, next);
  else
    atomic_store(&turn->now_serving, atomic_load(&turn->next_ticket));
  atomic_store(&turn->yield_requests[0], 1);
  atomic_store(&turn->yield_requests[1], 0);
}

void turn_take(struct wn_domain *domain) { turn_await(domain, take_ticket(domain)); }

void turn_give(struct wn_domain *domain) {
  struct turn *turn = &domain->turn;
  uint32_t next = atomic_load_explicit(&turn->now_serving, memory_order_relaxed) + 1;
  atomic_store(&turn->now_serving, next);
  DEBUG_STEP(domain->heap);
  if (atomic_load(&turn->next_ticket) != next) futex_wake_some(&turn->now_serving, bit_of(next));
}

void turn_yield(struct wn_domain *domain) {
  uint32_t ticket = take_ticket(domain);
  turn_give(domain);
  turn_await(domain, ticket);
}
/* SPDX-License-Identifier: MIT */
