/* Turns of a domain's threads. */
#include "gc/turn.h"

#include "gc/debug.h"
#include "gc/domain.h"
#include "gc/futex.h"
#include <time.h>

enum { TICK_MS = 10 };

static uint32_t bit_of(uint32_t number) { return (uint32_t)1 << number % 32; }

static struct timespec in_ticks(uint32_t ticks) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  uint64_t ms = (uint64_t)ticks * TICK_MS + (uint64_t)time.tv_nsec / 1000000;
  time.tv_sec += (time_t)(ms / 1000);
  time.tv_nsec = (long)(ms % 1000 * 1000000) + time.tv_nsec % 1000000;
  return time;
}

/* ASKED. */
static void ask(struct wn_domain *domain, uint32_t number) {
  atomic_store(&domain->turn.asked[number % 2], number);
  DEBUG_STEP(domain->heap);
  domain_before_raising(domain->heap);
  domain_raise_limit(domain);
  atomic_fetch_add_explicit(&domain->turn.ticks, 1, memory_order_relaxed);
}

static uint32_t draw(struct wn_domain *domain) {
  uint32_t number = atomic_fetch_add(&domain->turn.drawn, 1);
  DEBUG_STEP(domain->heap);
  return number;
}

/* TICK. */
static void await(struct wn_domain *domain, uint32_t number) {
  struct turn *turn = &domain->turn;
  uint32_t served = atomic_load(&turn->served);
  if (served == number) return;
  struct timespec until = in_ticks(number - served);
  bool asked = false;
  for (; served != number; served = atomic_load(&turn->served)) {
    DEBUG_STEP(domain->heap);
    if (futex_wait_until(&turn->served, served, bit_of(number), asked ? NULL : &until)) continue;
    served = atomic_load(&turn->served);
    DEBUG_STEP(domain->heap);
    if (number - served == 1) {
      ask(domain, served);
      asked = true;
    } else if (number != served) {
      until = in_ticks(number - served);
    }
  }
}

/* ---- shared ---- */

void turn_begin(struct wn_domain *domain) {
  atomic_store(&domain->turn.drawn, 1);
  atomic_store(&domain->turn.asked[0], 1); /* which belongs in the other place: nobody */
}

void turn_take(struct wn_domain *domain) { await(domain, draw(domain)); }

void turn_give(struct wn_domain *domain) {
  struct turn *turn = &domain->turn;
  uint32_t next = atomic_load_explicit(&turn->served, memory_order_relaxed) + 1;
  atomic_store(&turn->served, next);
  DEBUG_STEP(domain->heap);
  if (atomic_load(&turn->drawn) != next) futex_wake_some(&turn->served, bit_of(next));
}

void turn_yield(struct wn_domain *domain) {
  uint32_t number = draw(domain);
  turn_give(domain);
  await(domain, number);
}
/* SPDX-License-Identifier: MIT */
