/* Helper threads: they mark and sweep while the program runs, as far as there is work to share.
 *
 * A helper sleeps on a futex until there is work. It is no domain: it never allocates, never
 * touches a minor heap, and does not stop when the world stops. Before major.c changes the phase it
 * checks that no helper is busy. A thread that must see the whole heap at rest pauses the helpers.
 *
 * IDLE PROCESSORS. Unless the program asked for a number of helpers, helpers use only idle
 * processors: at most as many helpers work as the number of processors less the number of domains
 * awake. The other helpers return their work to the shared packets, and sleep until a collection
 * finds an idle processor.
 *
 * GIVE WAY. There can be too few processors all the same, because other programs run too. The
 * system then alternates a helper and a domain on one processor, for milliseconds each. Therefore a
 * domain stores the number of its processor (domain_note_processor). After each piece of work a
 * helper looks whether a domain has stored the number of the helper's processor, and if so calls
 * sched_yield. A domain that blocks or ends clears its number.
 *
 * RECLAIM. The cycle cannot end while a helper holds spans to mark (mark.h), or is in the middle of
 * sweeping, and the system may keep that helper from a processor for as long as it likes. What is
 * allocated meanwhile is not freed before the next cycle ends, and would count as live until then:
 * each cycle would let the heap grow further than the one before. So a domain that owes work (PACE
 * of major.h), and finds that helpers hold all that is left, reclaims it (helpers_await):
 *   1. The domain raises `reclaimers`. While that is not 0, helpers take no packet.
 *   2. The domain sleeps. Between two pieces of work each helper looks at `reclaimers`, and returns
 *      all that it holds.
 *   3. The domain takes a packet.
 *   4. The domain lowers `reclaimers`. Otherwise a helper could take the packet that was returned
 *      for the domain.
 *
 * The domain thus waits for the end of one piece at most, and then does the work that it would do
 * without helpers. The heap grows by no more than it would without them.
 *
 * WAITING for helpers. All steps are sequentially consistent:
 *
 *   waiting thread                              helper
 *   1. sets `paused`, or raises `reclaimers`    1. lowers `working` or `busy`, or adds a packet
 *   2. reads `news`                             2. reads `paused` and `reclaimers`
 *   3. checks whether it still must wait        3. if one is set, changes `news`, and wakes
 *   4. sleeps while `news` is as read
 *
 * One of the two therefore sees the other. tests/models/mark.pml explores it. */
#ifndef GC_COLLECT_HELPERS_H
#define GC_COLLECT_HELPERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct helper;
struct wn_domain;
struct wn_heap;

struct helpers {
  /* Set by helpers_start; constant until helpers_stop. */
  struct helper *threads;
  unsigned count, capacity; /* helpers that began; helpers that `threads` has room for */
  bool idle_only;           /* IDLE PROCESSORS */
  bool lost;                /* the threads stayed in the parent of a fork; see helpers_return */

  /* Counts of helpers. */
  _Atomic(unsigned) busy;     /* hold spans now; raised under the lock of mark.h */
  _Atomic(unsigned) working;  /* touch the heap now */
  _Atomic(unsigned) sleeping; /* sleep until there is work */
  _Atomic(unsigned) away;     /* sleep until a processor is idle */

  /* Set by threads that wait for helpers. */
  _Atomic(unsigned) reclaimers; /* domains in helpers_await */
  _Atomic(bool) paused;         /* no helper may begin to touch the heap */
  _Atomic(bool) quit;

  _Atomic(uint32_t) wake; /* futex of helpers */
  _Atomic(uint32_t) news; /* futex of threads that wait for helpers */
};

/* Starts up to `asked` threads, fewer if the system has no more. If `asked` is below 0: one for
 * each processor but one, at most 4, for IDLE PROCESSORS. */
void helpers_start(struct wn_heap *heap, int asked);
void helpers_stop(struct wn_heap *heap);
void helpers_wake(struct wn_heap *heap);

/* IDLE PROCESSORS: wakes the helpers that are away, if there is work and an idle processor. The
 * world is stopped. */
void helpers_invite(struct wn_heap *heap);

/* Wakes the helpers to make new chunks resident before they are used (TOUCH AHEAD of chunk.h), if a
 * helper has a processor for that. False if none has. */
bool helpers_touch(struct wn_heap *heap);

/* Between these two calls no helper touches the heap. The world is stopped, or no domain is
 * left. */
void helpers_pause(struct wn_heap *heap);
void helpers_resume(struct wn_heap *heap);

/* In the child of a fork, which has no helper threads: puts what they held into packets. The parent
 * paused them before. helpers_return starts these threads anew, when the child first collects: a
 * child that executes another program needs none. The world is stopped. */
void helpers_lose(struct wn_heap *heap);
void helpers_return(struct wn_heap *heap);

/* RECLAIM. The calling thread's domain, at a safepoint, found nothing to do in the phase. If
 * helpers hold the rest of the work, waits until they have returned some of it, or `news` has
 * changed for another reason; the domain may have been collected meanwhile. True: it waited, or has
 * a packet now, and looks for work again. False: it had spans to mark already, or what is left is
 * with other domains. */
bool helpers_await(struct wn_domain *domain);

/* WAITING: changes `news`, and wakes the threads that wait for helpers. */
void helpers_tell(struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
