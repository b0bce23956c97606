/* Stopping the world, and blocking sections: which thread may touch a domain.
 *
 *           block                 claim, by a leader
 *   RUNNING -------> BLOCKED ------------------> CLAIMED --(its thread waits)--> CLAIMED_AWAITED
 *      ^              |  ^                          |                                  |
 *      '---unblock----'  '--------- leave ----------'-------- leave, and wake ---------'
 *
 * While a domain is RUNNING only its running thread touches it. While it is BLOCKED no thread does.
 * While it is CLAIMED only the leader does, the thread that stopped the world. When a running
 * thread finds at a safepoint that a leader stops the world, it blocks its domain and waits. So
 * each domain is stopped in the same way, and a domain in a system call is collected without being
 * woken.
 *
 * STOP. The thread that sets `stopping` is the leader. All steps are sequentially consistent:
 *   leader                              a domain that blocks     a domain that unblocks
 *   1. sets `stopping`                  1. stores BLOCKED        1. changes BLOCKED to RUNNING
 *   2. raises the limit of each domain  2. reads `stopping`      2. sets its limit
 *   3. claims each domain: changes      3. if it is set, wakes   3. reads `stopping`, and if it is
 *      BLOCKED to CLAIMED                  the leader               set raises the limit
 * So a domain that is still running sees the raised limit, or sees `stopping`. A thread that takes
 * a sample sets its limit without a fence; RAISING of domain.h makes up for that.
 * tests/models/stop.pml explores it.
 *
 * SHARED COLLECTION. The leader can offer a part of its collection to the threads that wait:
 *   1. It sets `stopping` to STOPPING_SHARED.
 *   2. It wakes as many waiters as there are other processors.
 *   3. Each waiter calls `shared_collection`, and waits again when that returns. A waiter can be so
 *      late that the collection has ended, and another one has begun.
 *
 * FORK. A thread that forks must not be collected: fork is no safepoint, so the thread may hold
 * values without handles. It leads, so that all other domains are at safepoints when the process
 * is copied. Two leaders would wait for each other:
 *   1. The thread sets `forking` in the domains where it runs, and then wakes a leader that waits.
 *   2. A leader that finds the domain running and `forking` backs out: it releases the world, and
 *      its world_stop returns false. It does not lead again before the thread does.
 *   3. Of two threads that fork, one waits for the lock of process.h, which the other holds until
 *      its fork is over. The other one takes a domain that is `forking` as stopped.
 * Threads that want this lock for something else do steps 1 and 3 as well, since a thread that
 * forks may hold it and wait for them.
 *
 * A waiter backs off before it sleeps on a futex (backoff.h). It spins only if there are at least
 * as many processors as domains awake. */
#ifndef GC_DOMAINS_SAFEPOINT_H
#define GC_DOMAINS_SAFEPOINT_H

#include "gc/domains/domain.h"

/* Stops all other domains. True: the caller is the leader. False: another domain's thread was the
 * leader, and has released the world again, or is about to, or this thread backed out (FORK); the
 * caller's domain may have been collected. The caller's domain is running, and the calling thread
 * keeps its turn. */
bool world_stop(struct wn_domain *domain, enum stop_cause cause);
void world_release(struct wn_domain *leader);

/* FORK, step 1, for a domain where the calling thread runs; and its end. */
void domain_begin_fork(struct wn_domain *own);
void domain_end_fork(struct wn_domain *own);

/* FORK. world_stop_for_fork stops all domains but `own`, the one where the calling thread runs,
 * NULL if it runs in none. No listener is told of the stop. world_release_after_fork ends it, in
 * the parent and in the child. The caller holds the lock of process.h. */
void world_stop_for_fork(struct wn_heap *heap, struct wn_domain *own, struct lock_fork *fork);
void world_release_after_fork(struct wn_heap *heap, struct wn_domain *own, struct lock_fork *fork);

/* Whether a waiter should spin: every thread that could end the wait has a processor. */
static inline bool world_may_spin(const struct wn_heap *heap) {
  return atomic_load_explicit(&heap->awake, memory_order_relaxed) <= heap->processors;
}

/* The values of heap->stopping, the futex on which threads wait for the world. */
enum stopping { STOPPING_NOT, STOPPING, STOPPING_SHARED };

static inline bool world_is_stopping(const struct wn_heap *heap) {
  return atomic_load(&heap->stopping) != STOPPING_NOT;
}

/* The calling thread, which keeps its domain's turn, waits until the world is not stopped. */
void world_wait(struct wn_domain *domain);

/* SHARED COLLECTION. The leader begins, and ends, the offer of a part of its collection. */
void world_share_collection(struct wn_heap *heap);
void world_unshare_collection(struct wn_heap *heap);

/* Block and unblock the domain. They change only the domain's state: thread.c takes care of the
 * thread's turn and of its handles. */
void domain_block(struct wn_domain *domain);
void domain_unblock(struct wn_domain *domain);

/* GIVE WAY of helpers.h: stores the number of the processor on which the calling thread runs the
 * domain. */
void domain_note_processor(struct wn_domain *domain);

/* Between these two calls the domain's thread keeps its turn, does something that takes long, and
 * touches no block. No leader waits for it, and its domain may be collected. */
void domain_suspend(struct wn_domain *domain);
void domain_resume(struct wn_domain *domain);

#endif
/* SPDX-License-Identifier: MIT */
