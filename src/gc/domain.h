/* A domain: a minor heap, slots for handles, and what one thread at a time may do with them. */
#ifndef GC_DOMAIN_H
#define GC_DOMAIN_H

#include "base/fence.h"
#include "base/random.h"
#include "gc/exception.h"
#include "gc/heap.h"
#include "gc/remembered.h"
#include "gc/turn.h"
#include "memprof/host.h"

/* A futex word; the protocol is in safepoint.h. */
enum domain_state { DOMAIN_RUNNING, DOMAIN_BLOCKED, DOMAIN_CLAIMED, DOMAIN_CLAIMED_AWAITED };

/* A thread of a domain: its slot stack. */
struct gc_thread {
  struct wn_domain *domain;
  struct gc_thread *next; /* of the domain */
  wn_value *slots, *accessible_end, *slots_end;
  wn_value *top; /* while another thread of the domain runs, or the domain is blocked; else the face has it */
  bool blocked;  /* in a blocking section; for itself: who runs in its domain is then not its to read */
  bool blocking; /* in a blocking section; its own system thread's alone */
  bool over;     /* its body has ended: nobody catches what it raises */
  unsigned callbacks;      /* depth of callbacks that this thread is in */
  struct gc_thread *outer; /* of the same system thread, in another domain */
  struct memprof_thread profiled;
  int64_t words_left; /* before its next sample, while it does not run */
  unsigned aimed;     /* `aims` of its domain when that was drawn */
};

struct wn_domain {
  struct wn_domain_face face;

  /* Set by attach; constant afterwards. */
  struct wn_heap *heap;
  uint64_t number;
  unsigned index; /* in heap->domains */

  /* The language's. Written by the domain's running thread. */
  void *data;

  /* Written by the domain's running thread, or by a collection that stopped or claimed it. */
  size_t young_words; /* the size of its minor heap */
  char *young_start,
      *young_end;    /* the begin of the piece that it allocates in, and where the first one ended */
  char *young_floor; /* of its slot, what is above has memory */
  const char *stale,
      *stale_end;     /* where blocks were before they moved; where all move at once (nursery_move) */
  const void *frame;  /* of the allocation that may be sampled (nursery.h) */
  intptr_t sample_at; /* a young block below it has sampled words (gc_host.h) */
  size_t slice_words; /* of the debt: a piece's share */
  unsigned shares;    /* that it owes: pieces begun since its last slice */
  struct remembered remembered;
  struct pool_run runs[CLASSES];
  struct marker marker;
  wn_value *customs; /* young custom blocks: a stack of values */
  size_t custom_count, custom_capacity;
  size_t young_external; /* bytes that young custom blocks have outside */
  size_t external_words; /* what blocks born old count for outside (major.h) since the last collection */
  struct random random;
  long stress_count, poll_count;
  double minor_words, promoted_words, major_words; /* minor_words without what the minor heap holds now */
  size_t direct_words;                             /* allocated in the major heap since the last slice */
  _Atomic(size_t) copied_words;                    /* out of its minor heap in the current collection */
  struct domain_finalisers finalisers;
  struct memprof_owner owner; /* of the blocks that are tracked */
  unsigned aims;              /* how often its sampling began or ended */
  struct memo *memo;          /* of the callstacks of its samples; NULL before the first */
  struct gc_exception exception;

  _Atomic(uint32_t) state; /* enum domain_state */
  bool awake;              /* outside blocking sections; written by its thread, while it is not claimed */

  /* Threads: of the domain, and the one that runs. Written by who has the turn. */
  struct gc_thread *threads, *running;
  struct turn turn;

  struct wn_domain *next_ended; /* protected by a lock of domain.c */

  /* Futex: the threads besides its first. Each takes itself off when it has done with the domain. */
  _Atomic(uint32_t) others;
};

#define DOMAIN_NO_SAMPLE INTPTR_MIN

static inline bool exception_is_pending(const struct wn_domain *domain) { return domain->exception.pending; }

/* Its minor heap is empty, and allocation goes down from `end`. The next sample is as far as it was. */
static inline void domain_begin_young(struct wn_domain *domain, char *end) {
  if (domain->sample_at != DOMAIN_NO_SAMPLE) domain->sample_at += end - domain->face.young_ptr;
  domain->face.young_ptr = end;
}

/* The domains of a heap, by index: for (domain = domain_first(heap); domain; domain = domain_next(domain)). The lock `world` is
 * held. */
static inline struct wn_domain *domain_from(const struct wn_heap *heap, unsigned index) {
  while (index < heap->domains_end && !heap->domains[index]) index++;
  return index < heap->domains_end ? heap->domains[index] : NULL;
}
static inline struct wn_domain *domain_first(const struct wn_heap *heap) { return domain_from(heap, 0); }
static inline struct wn_domain *domain_next(const struct wn_domain *domain) {
  return domain_from(domain->heap, domain->index + 1);
}

static inline size_t domain_young_used(const struct wn_domain *domain) {
  return (size_t)(domain->young_end - domain->face.young_ptr) / 8;
}

/* The calling thread becomes the first of a new domain, which takes part in the profile of `parent` if that is not NULL. */
wn_status domain_attach(struct wn_heap *heap, struct wn_domain *parent, struct wn_domain **out);

/* Waits, in a blocking section, until the running thread is the domain's only one. */
void domain_await_others(struct wn_domain *domain);

/* The domain's first thread ends, wherever it is (ENDS of thread.h), and the domain with it, once its other threads have.
 * Calls nothing. */
void domain_give_up(struct gc_thread *thread);

/* Puts the limit above everything, so that the running thread comes to a safepoint. From another thread: after domain_before_raising. */
static inline void domain_raise_limit(struct wn_domain *domain) {
  __atomic_store_n(&domain->face.young_limit, (char *)UINTPTR_MAX, __ATOMIC_SEQ_CST);
}

/* Puts the limit where it belongs, or above everything if the world is being stopped, or another thread waits for its turn
 * (ASKED of turn.h). */
void domain_reset_limit(struct wn_domain *domain);

/* Lets the threads of the domain run that wait, and waits for the next turn. May collect. */
void domain_yield(struct wn_domain *domain);

/* RAISING. The limit of a running domain is its own, and anybody's who raises it. It is set by every sample, so that costs no
 * fence (fence.h): the domain sets its limit, then looks for what anybody may want (domain_is_wanted), and raises it itself;
 * who wants something says so, then has the domain pass a fence, then raises the limit. So either the domain sees what is wanted,
 * or it set its limit before. Where nothing ever was sampled limits are set with a fence, and no other is needed.
 * tests/models/raise.pml explores it. */
static inline void domain_before_raising(struct wn_heap *heap) {
  if (atomic_load(&heap->was_sampled)) fence_heavy();
}
static inline bool domain_is_wanted(const struct wn_domain *domain) {
  return atomic_load(&domain->heap->stopping) || turn_is_asked_for(&domain->turn);
}

/* What is due: callbacks of a profile; finalisers or alarms, or it is not known what. `face.due` is written by who has the domain
 * (STOP of safepoint.h): its running thread, or who stopped it. */
enum { DUE_PROFILE = 1, DUE_ANY = 2 };

static inline void domain_add_due(struct wn_domain *domain, uintptr_t what) {
  __atomic_store_n(&domain->face.due, domain->face.due | what, __ATOMIC_RELAXED);
}
static inline uintptr_t domain_take_due(struct wn_domain *domain) {
  uintptr_t due = domain->face.due;
  if (due) __atomic_store_n(&domain->face.due, 0, __ATOMIC_RELAXED);
  return due;
}

#endif
/* SPDX-License-Identifier: MIT */
