/* Stopping the world, and blocking sections: who may touch a domain.
 *
 *              block                     claim, by a leader
 *   RUNNING ----------> BLOCKED -----------------------------> CLAIMED --(its thread wants back)--> CLAIMED_AWAITED
 *      ^                 |  ^                                     |                                      |
 *      '-----unblock-----'  '-------------- leave ----------------'------------- leave, and wake --------'
 *
 * A domain is touched by its running thread while it is RUNNING, by nobody while it is BLOCKED, and by the leader, which
 * stopped the world, while it is CLAIMED. A thread that finds the world being stopped at a safepoint waits by blocking its
 * domain; so there is one way to be stopped, and a domain in a system call is collected without being woken.
 *
 * STOP. The leader is who sets `stopping`. It raises each domain's limit, then claims each domain: one that is still running
 * will see the limit. A domain that blocks stores its state, then reads `stopping`; one that unblocks sets its limit, then
 * reads `stopping` and raises the limit again. All of that is sequentially consistent, so one side sees the other; a sample
 * sets the limit without a fence, and RAISING of domain.h makes up for that.
 *
 * Waiting spins for a moment where there are as many processors as domains awake, and else offers its own (patience.h). Then it sleeps
 * on a futex. */
#ifndef GC_SAFEPOINT_H
#define GC_SAFEPOINT_H

#include "gc/domain.h"

/* Stops all other domains. True: the caller leads. False: another domain did, and has let the world go again, or is about
 * to; the caller's domain may have been collected. The caller's domain is running and keeps its turn. */
bool world_stop(struct wn_domain *domain, enum stop_cause cause);
void world_release(struct wn_domain *leader);

/* Whether to spin for a moment before sleep is worth it: everybody who could end the wait has a processor. */
static inline bool world_may_spin(const struct wn_heap *heap) {
  return atomic_load_explicit(&heap->awake, memory_order_relaxed) <= heap->processors;
}

/* Those that wait sleep on this word. STOPPING_HELP: there is copying to share (minor.h). */
enum stopping { STOPPING_NOT, STOPPING, STOPPING_HELP };

static inline bool world_is_stopping(const struct wn_heap *heap) {
  return atomic_load(&heap->stopping) != STOPPING_NOT;
}

/* The domain, whose turn the calling thread keeps, waits until nobody stops the world. */
void world_wait(struct wn_domain *domain);

/* The leader opened, and closed, a collection that those who wait may share. As many as there are other processors are woken
 * for it. */
void world_ask_for_help(struct wn_heap *heap);
void world_end_help(struct wn_heap *heap);

/* The state alone; the thread's turn and handles are domain.c's. */
void domain_block(struct wn_domain *domain);
void domain_unblock(struct wn_domain *domain);

/* WAY of helpers.h: the domain runs on this processor. */
void domain_note_processor(struct wn_domain *domain);

/* In between, the domain's thread, which keeps its turn, does what takes long and touches no block: nobody waits for it, and
 * its domain may be collected. */
void domain_step_aside(struct wn_domain *domain);
void domain_step_back(struct wn_domain *domain);

#endif
/* SPDX-License-Identifier: MIT */
