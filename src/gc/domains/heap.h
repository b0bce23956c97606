/* A heap: what its domains share. */
#ifndef GC_DOMAINS_HEAP_H
#define GC_DOMAINS_HEAP_H

#include "base/lock.h"
#include "gc/events/events.h"
#include "gc/store/store.h"
#include "memprof/host.h"
#include <winnow/gc.h>

struct collector;
struct heap_trace;
struct metrics;
struct wn_marshal_ops;
struct wn_domain;
struct wn_gc_listener;

enum {
  DOMAINS_MOST = TINY ? 16 : 128,
  HEAP_LOCKS = 10 + MEMPROF_LOCKS /* besides `world` */
};

/* The major collector's cycle (major.h). */
enum phase { PHASE_IDLE, PHASE_MARK, PHASE_SWEEP };

/* Stress points (stress.h). */
enum stress_kind { STRESS_ALLOCATION, STRESS_POLL, STRESS_KINDS };

/* A kind of custom blocks that can be marshalled (gc/marshal/kinds.h). */
struct marshal_kind {
  struct marshal_kind *next;
  const struct wn_custom_ops *ops;
  const struct wn_marshal_ops *marshal;
};

struct wn_heap {
  /* Set by wn_heap_open; constant afterwards. */
  uintptr_t young_base, young_span; /* the addresses of all minor heaps */
  size_t young_slot_bytes;          /* of that range, for each domain */
  unsigned young_slot_shift;        /* its logarithm */
  char *young_reserved;
  wn_heap_hooks hooks;
  wn_frames frames;
  char language[64];
  uint64_t seed;
  bool finalise_at_close;
  unsigned processors;
  int helper_threads;          /* below 0: IDLE PROCESSORS of helpers.h */
  unsigned domains_most;       /* how many it can have at a time */
  size_t initial_words;        /* of the major heap */
  struct collector *collector; /* what gc/collect keeps for a heap (collector.h) */

  struct wn_heap *next_open; /* protected by the lock of process.h */

  struct store store;
  struct memprof engine;                   /* of profiles */
  _Atomic(struct callstacks *) callstacks; /* of the engine; NULL before the first sample */
  _Atomic(bool) was_sampled;               /* a profile has begun at some time (RAISING of domain.h) */

  /* LISTENING of events.h. */
  struct events events;
  struct listener verbose_listener;
  struct heap_trace *traces;
  struct wn_gc_listener *public_listeners;
  struct metrics *metrics; /* NULL: nothing is counted */

  /* What the program registered: a list that only grows; from malloc. Written by any thread. */
  _Atomic(struct marshal_kind *) marshal_kinds;

  /* Written while the world is stopped; read by any thread. */
  _Atomic(int) phase; /* enum phase */

  /* Written under `world` (rank WORLD). */
  struct lock world;
  struct wn_domain *domains[DOMAINS_MOST]; /* NULL: a free slot; see domain_first */
  unsigned domains_end;                    /* no domain has this index, or a greater one */
  unsigned domain_count;
  uint64_t domain_sequence;
  _Atomic(unsigned) lost; /* domains: LOST of ending.h */

  /* The protocol of safepoint.h. */
  _Atomic(uint32_t) stopping;                          /* enum stopping, a futex */
  _Atomic(uint32_t) arrivals;                          /* a futex */
  _Atomic(unsigned) awake;                             /* domains not in a blocking section */
  _Atomic(bool) fork_waits;                            /* FORK: a thread in no domain waits to lead */
  void (*shared_collection)(struct wn_domain *domain); /* SHARED COLLECTION; constant once opened */
  enum stop_cause stop_cause;                          /* of the leader */
  uint64_t stop_began_ns;                              /* 0: no listener wants the stop */

  /* GIVE WAY of helpers.h: by a domain's index, the number + 1 of the processor on which the domain
   * runs; 0: none. */
  bool notes_processors; /* set when helpers start */
  _Atomic(int) processor_of[DOMAINS_MOST];

  /* Of a fork under way (fork.c of gc/api). */
  struct lock_fork world_in_fork, locks_in_fork[HEAP_LOCKS];
  struct callstacks *callstacks_in_fork; /* those whose lock was taken */

  /* Parameters: written by control.c while the world is stopped. */
  wn_gc_control control;
  _Atomic(size_t) minor_words;  /* of each minor heap */
  _Atomic(intptr_t) young_left; /* BUDGET of nursery.h: bytes that no domain has taken yet */
  _Atomic(long) verbose;
  struct stress {
    long every;   /* a collection at each n-th allocation, all of which are slow then; 0: never */
    long polls;   /* a collection at each n-th poll, or other call that may collect; 0: none */
    long compact; /* a compaction at each n-th of all these; 0: none */
    void (*collect)(struct wn_domain *domain, enum stress_kind kind); /* constant: stress_collect */
    long fail_at;     /* the n-th request for memory fails; 0: none */
    bool delays;      /* random pauses at each step of the protocols */
    bool verify;      /* wn_gc_verify after each collection */
    bool move_all;    /* a compaction moves all blocks that are not pinned */
    size_t mark_most; /* entries of a mark stack; 0: no limit but memory */
  } stress;
  /* Written while the world is stopped. */
  size_t young_budget;  /* the first value of young_left */
  size_t young_most;    /* words of the budget and of the awake domains' first pieces */
  size_t young_used;    /* words that the last minor collection found */
  unsigned young_alive; /* SHORT of nursery.h: collections in a row that found nearly all alive */
  /* True if RESERVE of chunk.h failed: minor heaps must not be filled. Written while the world is
   * stopped, and by a thread that attaches a domain. */
  _Atomic(bool) starved;

  /* Counts. */
  _Atomic(long) requests; /* for memory, counted for stress.fail_at */
  _Atomic(long) minor_collections, major_collections, forced_major_collections, compactions;
  struct {
    double minor_words, promoted_words, major_words;
  } ended; /* the counts of domains that ended */
};

static inline bool heap_is_young(const struct wn_heap *heap, wn_value value) {
  return value - heap->young_base < heap->young_span && !(value & 1);
}
/* The index of the domain whose minor heap has a young block. The address of the header decides,
 * since the address of a block without fields may be the end of the slot. */
static inline unsigned heap_young_index(const struct wn_heap *heap, wn_value young) {
  return (unsigned)((young - sizeof(wn_value) - heap->young_base) >> heap->young_slot_shift);
}
/* The new address of a young value; 0 if it is dead; the value itself if it is not young. Called
 * only while the world is stopped, after a minor collection has evacuated the minor heaps and
 * before they are used again. */
static inline wn_value heap_young_fate(const struct wn_heap *heap, wn_value value) {
  if (!heap_is_young(heap, value)) return value;
  wn_value header = header_of(value);
  return header & FORWARD_BIT ? header - FORWARD_BIT : 0;
}

static inline unsigned heap_live_colour(const struct wn_heap *heap) {
  return store_live_colour(&heap->store);
}
static inline int heap_phase(const struct wn_heap *heap) {
  return atomic_load_explicit(&heap->phase, memory_order_acquire);
}

/* Whether a stress mode makes collections that are not needed: then allocations and polls take
 * their slow paths. */
static inline bool heap_collects_by_stress(const struct wn_heap *heap) {
  return heap->stress.every || heap->stress.polls || heap->stress.compact;
}

#endif
/* SPDX-License-Identifier: MIT */
