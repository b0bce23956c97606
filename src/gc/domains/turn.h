/* The turn of a domain: one of its threads runs at a time, in the order in which they asked.
 *
 * The turn is a ticket lock. A thread that wants the turn takes a ticket, and has the turn when
 * that ticket is served. The thread that ends its turn serves the next ticket. The turn is thus
 * handed over in order: no thread overtakes, not even the one that gave the turn and wants it back
 * at once.
 *
 * TICK. A thread keeps its turn until it blocks, yields or ends. While other threads wait, it keeps
 * it for one tick, and then until its next safepoint. No clock runs for that:
 *   1. A waiter sleeps for as many ticks as there are tickets before its own.
 *   2. If it is then the next in line, it requests that the running thread yields, once. It raises
 *      the domain's limit for that, as a leader does to stop the world (safepoint.h).
 *   3. The next poll or allocation of the running thread leads to domain_yield.
 *
 * While no thread waits, no thread reads a clock.
 *
 * YIELD REQUEST. A request is the ticket of the thread that should yield. It need not be taken
 * back, because the next turn has another ticket. There are two words for it, for even and odd
 * tickets. The requesting thread A holds the next ticket. A can be delayed so long that its ticket
 * is served before it has stored its request. Then a waiter B may store a request to A before A
 * stores the late one. The two requests are for tickets that follow each other, so neither
 * overwrites the other. All steps are sequentially consistent:
 *
 *   requesting thread                           running thread
 *   1. stores the ticket in `yield_requests`    1. sets its limit
 *   2. raises the limit                         2. reads `yield_requests`, and raises the limit
 *                                                  if its own ticket is there
 *
 * One of the two therefore sees the other. A thread also sets its limit when it takes a sample: see
 * RAISING of domain.h. tests/models/turn.pml explores it. */
#ifndef GC_DOMAINS_TURN_H
#define GC_DOMAINS_TURN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct wn_domain;

struct turn {
  _Atomic(uint32_t) next_ticket;       /* the first thread of a domain has taken ticket 0 */
  _Atomic(uint32_t) now_serving;       /* a futex; a sleeper waits for bit ticket % 32 of the wake mask */
  _Atomic(uint32_t) yield_requests[2]; /* YIELD REQUEST */
  _Atomic(unsigned) requests;          /* how many requests there were so far */
};

/* Gives the turn to the first thread of a new domain. */
void turn_begin(struct wn_domain *domain);

/* turn_take: the calling thread, one of the domain's, takes a ticket and waits until it has the
 * turn. turn_give: the thread that has the turn ends it. */
void turn_take(struct wn_domain *domain);
void turn_give(struct wn_domain *domain);
/* The thread that has the turn ends it, and waits for another one behind the threads that wait
 * now. */
void turn_yield(struct wn_domain *domain);

/* In the child of a fork, where no thread waits for a turn: `held` if the thread that is left has
 * the turn. */
void turn_lose_waiters(struct wn_domain *domain, bool held);

/* Whether a waiter has requested that the thread which has the turn yields. */
static inline bool turn_must_yield(const struct turn *turn) {
  uint32_t serving = atomic_load_explicit(&turn->now_serving, memory_order_relaxed);
  return atomic_load(&turn->yield_requests[serving % 2]) == serving;
}
static inline bool turn_has_waiters(const struct turn *turn) {
  return atomic_load(&turn->next_ticket) - atomic_load(&turn->now_serving) > 1;
}

#endif
/* SPDX-License-Identifier: MIT */
