/* A domain: a minor heap, slots for handles, and threads of which one at a time runs. */
#ifndef GC_DOMAINS_DOMAIN_H
#define GC_DOMAINS_DOMAIN_H

#include "base/fence.h"
#include "base/random.h"
#include "gc/domains/exception.h"
#include "gc/domains/heap.h"
#include "gc/domains/remembered.h"
#include "gc/domains/turn.h"
#include "memprof/host.h"

struct domain_collector;

/* A futex word; the protocol is in safepoint.h. */
enum domain_state { DOMAIN_RUNNING, DOMAIN_BLOCKED, DOMAIN_CLAIMED, DOMAIN_CLAIMED_AWAITED };

/* A thread of a domain: its slot stack. */
struct domain_thread {
  struct wn_domain *domain;
  struct domain_thread *next; /* of the domain */
  wn_value *slots, *accessible_end, *slots_end;
  wn_value *top; /* while the thread does not run, or the domain is suspended; else see the context */

  /* Read and written by the system thread itself alone. */
  bool blocked;  /* it does not run: then it must not read which thread runs in its domain */
  bool blocking; /* it is in a blocking section */

  bool spawned;                   /* by wn_thread_spawn: it is not the domain's first */
  bool over;                      /* its body has ended: nothing can catch what it raises */
  size_t outermost_scopes;        /* SCOPES of debug.h; 0: none is open */
  const wn_value *outermost_mark; /* of them */
  unsigned callbacks;             /* depth of callbacks that this thread is in */
  struct domain_thread *outer;    /* of the same system thread, in another domain */
  struct memprof_thread profiled; /* of the sampling engine */
  int64_t words_left;             /* to its next sample, while it does not run */
  unsigned sampling_epoch;        /* its domain's sampling_epoch when words_left was drawn */
};

struct wn_domain {
  struct wn_mutator_context context;

  /* Set by attach; constant afterwards. */
  struct wn_heap *heap;
  struct domain_collector *collector; /* what gc/collect keeps for a domain (collector.h) */
  uint64_t number;
  unsigned index; /* in heap->domains */

  /* The language's. Written by the domain's running thread. */
  void *data;

  /* Written by the domain's running thread, or by a leader while the world is stopped. */
  size_t young_words;            /* the size of its minor heap */
  char *young_start, *young_end; /* the begin of its current piece; the end of its first piece */
  char *young_floor;             /* the lowest address that has memory, in its slot of the reservation */
  const char *stale, *stale_end; /* where its blocks were before they moved (nursery_move) */
  const void *frame;             /* of the allocation that may be sampled (allocate.h) */
  const wn_custom_ops *custom;   /* likewise: those that a custom block will have */
  intptr_t sample_at;            /* a young block at a lower address has sampled words (host.h) */
  size_t slice_words;            /* the part of the major collector's debt that one piece pays */
  unsigned slices_owed;          /* pieces begun since its last slice */
  struct remembered remembered;
  struct pool_run runs[CLASSES];
  struct untyped {
    struct untyped_block *blocks;
    size_t count, capacity;
  } untyped;         /* TYPES of host.h */
  wn_value *customs; /* young custom blocks: a stack of values (customs.h) */
  size_t custom_count, custom_capacity;
  size_t young_external; /* bytes that young custom blocks have outside */
  size_t external_words; /* what blocks born old since the last minor collection have outside (EXTERNAL) */
  struct random random;
  long stress_counts[STRESS_KINDS + 1];            /* the last: of all kinds */
  double minor_words, promoted_words, major_words; /* minor_words: up to the last minor collection */
  size_t direct_words;                             /* allocated outside the minor heap, and not in the debt */
  size_t unpaid_words;          /* the same, and in the debt; the domain has done no slices for them */
  _Atomic(size_t) copied_words; /* promoted in the current collection */
  struct memprof_owner owner;   /* of the blocks that are tracked */
  unsigned sampling_epoch;      /* how often its sampling began or ended */
  struct memo *memo;            /* of the callstacks of its samples; NULL before the first */
  struct gc_exception exception;

  _Atomic(uint32_t) state; /* enum domain_state */
  _Atomic(bool) forking;   /* FORK of safepoint.h: its running thread forks */
  bool awake;              /* not in a blocking section; written by its thread */

  /* Threads: of the domain, and the one that runs. Written by the thread that has the turn. */
  struct domain_thread *threads, *running;
  struct turn turn;

  bool lost;                    /* LOST of ending.h; written by the child of a fork */
  struct wn_domain *next_ended; /* protected by the lock of process.h */

  /* A futex: the count of threads besides its first. A thread lowers it when it is done with the
   * domain. */
  _Atomic(uint32_t) others;
};

#define DOMAIN_NO_SAMPLE INTPTR_MIN

static inline bool exception_is_pending(const struct wn_domain *domain) { return domain->exception.pending; }

/* Makes the minor heap empty: allocation goes down from `end`. The distance to the next sample
 * stays. */
static inline void domain_begin_young(struct wn_domain *domain, char *end) {
  if (domain->sample_at != DOMAIN_NO_SAMPLE) domain->sample_at += end - domain->context.young_ptr;
  domain->context.young_ptr = end;
}

/* The domains of a heap, by index: for (domain = domain_first(heap); domain; domain =
 * domain_next(domain)). The lock `world` is held. */
static inline struct wn_domain *domain_from(const struct wn_heap *heap, unsigned index) {
  while (index < heap->domains_end && !heap->domains[index]) index++;
  return index < heap->domains_end ? heap->domains[index] : NULL;
}
static inline struct wn_domain *domain_first(const struct wn_heap *heap) { return domain_from(heap, 0); }
static inline struct wn_domain *domain_next(const struct wn_domain *domain) {
  return domain_from(domain->heap, domain->index + 1);
}

/* Gives the current pools of all domains back, so that pools can be walked: the rest of a current
 * run has no header. The world is stopped. */
static inline void domains_flush_pools(struct wn_heap *heap) {
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    pools_flush(&heap->store, domain->runs);
}

static inline size_t domain_young_used(const struct wn_domain *domain) {
  return (size_t)(domain->young_end - domain->context.young_ptr) / 8;
}

/* Waits, in a blocking section, until the running thread is the domain's only one. */
void domain_await_others(struct wn_domain *domain);

/* The calling thread ends its turn, so that the domain's waiting threads run, and waits for its
 * next turn. May collect. */
void domain_yield(struct wn_domain *domain);

/* ---- the limit of allocation ----
 *
 * Allocation compares the context's `young_ptr` with `young_limit`. The limit is where the next
 * sample is, or where the piece begins. It is above all addresses while another thread wants this
 * domain to come to a safepoint, and while each allocation is to take the slow path.
 *
 * RAISING. The running thread of a domain sets its limit at each sample. Any thread may raise it.
 * So that a sample costs no fence, the fence is the raising thread's (fence.h):
 *   running thread                              raising thread
 *   1. sets the limit                           1. sets `stopping`, or a yield request
 *   2. light fence                              2. heavy fence: every running thread passes a fence
 *   3. reads `stopping` and the requests        3. raises the limit
 *      (domain_is_wanted), and raises the
 *      limit if one of them is set
 * Either the running thread sees `stopping` or the request, or it has set its limit before the
 * other thread raises it. In a heap that was never sampled, limits are set with a full fence, and
 * no heavy fence is needed. tests/models/raise.pml explores it. */

/* Where allocation ends if no thread wants the domain: at the next sample, or the begin of the
 * piece. */
static inline char *domain_allocation_end(const struct wn_domain *domain) {
  return domain->sample_at > (intptr_t)domain->young_start ? (char *)domain->sample_at : domain->young_start;
}

/* RAISING, step 2: called before domain_raise_limit by a thread that is not the domain's running
 * thread. */
static inline void domain_before_raising(struct wn_heap *heap) {
  if (atomic_load(&heap->was_sampled)) fence_heavy();
}

/* Sets the limit above all addresses, so that the running thread comes to a safepoint. */
static inline void domain_raise_limit(struct wn_domain *domain) {
  __atomic_store_n(&domain->context.young_limit, (char *)UINTPTR_MAX, __ATOMIC_SEQ_CST);
}

static inline bool domain_is_wanted(const struct wn_domain *domain) {
  return atomic_load(&domain->heap->stopping) || turn_must_yield(&domain->turn);
}

/* Sets the limit with a full fence, and raises it if the domain is wanted. The caller is the
 * domain's running thread, or a leader. */
void domain_reset_limit(struct wn_domain *domain);

/* RAISING. Called when a sample has moved the end of allocation: moves the limit, unless it is
 * above all addresses. */
static inline void domain_move_limit(struct wn_domain *domain) {
  char **limit = &domain->context.young_limit;
  if (__atomic_load_n(limit, __ATOMIC_RELAXED) == (char *)UINTPTR_MAX) return;
  __atomic_store_n(limit, domain_allocation_end(domain), __ATOMIC_RELAXED);
  fence_light();
  if (__builtin_expect(domain_is_wanted(domain), 0)) domain_raise_limit(domain);
}

/* ---- pending callbacks ----
 *
 * `context.pending` is not 0 while callbacks wait for the next safepoint: PENDING_PROFILE for those
 * of a profile, PENDING_ANY for finalisers, alarms and exceptions, and where the kind is not known.
 * The thread that may touch the domain writes it (safepoint.h): its running thread, or the
 * leader. */
enum { PENDING_PROFILE = 1, PENDING_ANY = 2 };

static inline void domain_add_pending(struct wn_domain *domain, uintptr_t callbacks) {
  __atomic_store_n(&domain->context.pending, domain->context.pending | callbacks, __ATOMIC_RELAXED);
}
static inline uintptr_t domain_take_pending(struct wn_domain *domain) {
  uintptr_t pending = domain->context.pending;
  if (pending) __atomic_store_n(&domain->context.pending, 0, __ATOMIC_RELAXED);
  return pending;
}

#endif
/* SPDX-License-Identifier: MIT */
