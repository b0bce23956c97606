/* The turn of a domain: one of its threads runs at a time, in the order in which they asked for it.
 *
 * It is a lock of numbers. Who wants its turn draws the next number, and has it when that number is served; who gives its
 * turn serves the next one. So the turn is handed over: nobody overtakes, not even who gave it and wants it back at once.
 *
 * TICK. A thread runs until it blocks, yields or ends; while others wait, for a tick and until its next safepoint. No clock
 * runs for that. Who waits sleeps for as long as those before it may take, a tick each; then, if nobody is before it but the
 * one that runs, it asks that to yield, once: it sets `asked` and raises the domain's limit, as who stops the world does
 * (safepoint.h), and so the next poll or allocation leads to domain_yield. Where nobody waits nobody looks at a clock.
 *
 * ASKED. The question is the number of who should yield, so nobody has to take it back: the next turn has another number. There
 * are two places, for odd and even numbers: who asks has the next number, and may be so slow that its turn comes, and the one
 * after it asks, before it has stored its question; then neither overwrites the other's. Who asks stores the number, then raises
 * the limit; who sets the limit anew looks at the number afterwards. All of it is sequentially consistent, so one side sees the
 * other; for samples see RAISING of domain.h. tests/models/turn.pml explores it. */
#ifndef GC_TURN_H
#define GC_TURN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct wn_domain;

struct turn {
  _Atomic(uint32_t) drawn;    /* the next number; one is drawn for the thread that a domain begins with */
  _Atomic(uint32_t) served;   /* a futex; a sleeper has the bit of its number */
  _Atomic(uint32_t) asked[2]; /* ASKED */
  _Atomic(unsigned) ticks;    /* how often somebody asked */
};

/* The domain has its first thread, whose turn it is. */
void turn_begin(struct wn_domain *domain);

/* The calling thread of the domain waits until it has its turn, or gives it. */
void turn_take(struct wn_domain *domain);
void turn_give(struct wn_domain *domain);
/* Both, behind those who wait now. */
void turn_yield(struct wn_domain *domain);

static inline bool turn_is_asked_for(const struct turn *turn) {
  uint32_t served = atomic_load_explicit(&turn->served, memory_order_relaxed);
  return atomic_load(&turn->asked[served % 2]) == served;
}
static inline bool turn_is_waited_for(const struct turn *turn) {
  return atomic_load(&turn->drawn) - atomic_load(&turn->served) > 1;
}

#endif
/* SPDX-License-Identifier: MIT */
