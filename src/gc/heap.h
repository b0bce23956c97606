/* A heap: what its domains share. See README.md for the order to read the rest in. */
#ifndef GC_HEAP_H
#define GC_HEAP_H

#include "base/lock.h"
#include "gc/alarm.h"
#include "gc/chunk.h"
#include "gc/events.h"
#include "gc/finaliser.h"
#include "gc/helpers.h"
#include "gc/mark.h"
#include "gc/medium.h"
#include "gc/pool.h"
#include "gc/roots.h"
#include "memprof/host.h"
#include <winnow/gc.h>

struct wn_domain;
struct minor_work;
struct gc_trace;

enum { DOMAINS_MOST = TINY ? 16 : 128 };

/* The major collector's cycle (major.h). */
enum phase { PHASE_IDLE, PHASE_MARK, PHASE_SWEEP };

struct wn_heap {
  /* Set by wn_heap_open; constant afterwards. */
  uintptr_t young_base, young_span; /* all minor heaps, one slot a domain */
  size_t young_slot_bytes;
  unsigned young_slot_shift; /* its logarithm */
  char *young_reserved;
  wn_heap_hooks hooks;
  wn_frames frames;
  char language[64];
  uint64_t seed;
  bool finalise_at_close;
  unsigned processors;
  int helper_threads;   /* below 0: as many as seem right */
  size_t initial_words; /* of the major heap */

  struct wn_heap *next_open; /* protected by a lock of heap.c */

  struct chunks chunks;
  struct pools pools;
  struct medium medium;
  struct globals globals;
  struct marking marking;
  struct helpers helpers;
  struct finalisers finalisers;
  struct alarms alarms;
  struct minor_work *minor_work;
  struct memprof engine; /* of profiles */
  struct events events;
  struct listener verbose_listener;
  struct gc_trace *traces;                 /* LISTENING of events.h */
  _Atomic(struct callstacks *) callstacks; /* of the engine; NULL before the first sample */
  _Atomic(bool) was_sampled;               /* a profile began once (RAISING of domain.h) */

  /* Written while the world is stopped; read by anybody. */
  _Atomic(int) phase; /* enum phase */
  _Atomic(unsigned)
      marked; /* the colour of what is marked, and of new blocks; the other is not known to be live */

  /* Written under `world` (rank WORLD). */
  struct lock world;
  struct wn_domain *domains[DOMAINS_MOST]; /* NULL: a free slot; see domain_first */
  unsigned domains_end;                    /* none has this index, or a greater one */
  unsigned domain_count;
  uint64_t domain_sequence;

  /* The protocol of safepoint.h. */
  _Atomic(uint32_t) stopping; /* enum stopping, a futex */
  _Atomic(uint32_t) arrivals;
  enum stop_cause stop_cause; /* written by the leader, while the world is stopped */
  uint64_t stop_began_ns;     /* 0: nobody listens; the same */
  _Atomic(unsigned) awake;    /* domains outside blocking sections: they run, or wait at a safepoint */
  /* WAY of helpers.h: the number + 1 of the processor on which the domain of an index runs; 0: none. */
  bool notes_processors; /* set when helpers start */
  _Atomic(int) processor_of[DOMAINS_MOST];

  /* Parameters: written under `world` by control.c. */
  wn_gc_control control;
  _Atomic(size_t) minor_words;  /* of each minor heap */
  _Atomic(intptr_t) young_left; /* BUDGET of nursery.h: bytes that are no domain's yet */
  _Atomic(long) verbose;
  struct stress {
    long every;   /* a collection at each n-th allocation, all of which take the slow path then; 0: never */
    long polls;   /* a collection at each n-th poll; 0: none */
    long fail_at; /* the n-th request of memory fails; 0: none */
    bool delays;  /* random pauses at each step of the protocols */
    bool verify;  /* wn_gc_verify after each collection */
    size_t mark_most; /* entries of a mark stack; 0: no limit but memory */
  } stress;
  /* Written while the world is stopped. */
  size_t young_budget; /* what young_left began with */
  size_t
      young_most; /* words of that and of the first pieces of all domains that were awake; 0 before the first */
  size_t young_used;    /* words that the last minor collection found */
  unsigned young_alive; /* SHORT of nursery.h: so many collections found nearly all alive */
  /* RESERVE of chunk.h fails: minor heaps must not be filled. Written while the world is stopped, and by a new domain. */
  _Atomic(bool) starved;

  /* What pacing needs (major.h), and the counts of domains that ended. */
  _Atomic(size_t) allocated;  /* words that came into the major heap since the cycle began */
  _Atomic(size_t) external;   /* bytes outside the heap that live custom blocks have */
  _Atomic(size_t) live_words; /* found live by the last cycle's sweep; of this one so far: */
  _Atomic(size_t) swept_live;
  _Atomic(int64_t) debt;         /* words of marking and sweeping that are due */
  size_t phase_goal;             /* words of work that the phase is, as far as is known */
  size_t phase_began;            /* `allocated` then */
  uint64_t cycle_began_ns;       /* 0: none began yet */
  _Atomic(size_t) work_done;     /* in the phase, by domains and helpers */
  _Atomic(size_t) external_made; /* bytes that old custom blocks ever had outside; when the cycle began: */
  size_t external_made_before;
  _Atomic(size_t)
      external_live; /* what of `external` the last cycle found, without what was made during it */
  size_t soft_limit_bytes;
  _Atomic(long) requests; /* of memory, for stress.fail_at */
  _Atomic(long) minor_collections, major_collections, forced_major_collections;
  struct {
    double minor_words, promoted_words, major_words;
  } ended;
};

static inline bool heap_is_young(const struct wn_heap *heap, wn_value value) {
  return value - heap->young_base < heap->young_span && !(value & 1);
}
/* The domain of whose minor heap a young block is. Its header tells: a block without fields may begin where its slot ends. */
static inline unsigned heap_young_index(const struct wn_heap *heap, wn_value young) {
  return (unsigned)((young - sizeof(wn_value) - heap->young_base) >> heap->young_slot_shift);
}
static inline unsigned heap_live_colour(const struct wn_heap *heap) {
  return atomic_load_explicit(&heap->marked, memory_order_relaxed);
}
static inline int heap_phase(const struct wn_heap *heap) {
  return atomic_load_explicit(&heap->phase, memory_order_acquire);
}

/* Nothing is read through the pointer before it is known to be a heap. */
bool heap_is_open(const struct wn_heap *heap);

/* Counts a swept piece. */
void heap_swept(struct wn_heap *heap, size_t live_words);

/* Stress modes in which collections come when they need not: then allocations and polls take their slow paths. */
static inline bool heap_collects_by_stress(const struct wn_heap *heap) {
  return heap->stress.every || heap->stress.polls;
}

/* True if a request for memory is to fail, by the stress mode. */
bool heap_request_fails(struct wn_heap *heap);
static inline bool heap_fails_by_stress(struct wn_heap *heap) {
  return heap->stress.fail_at && heap_request_fails(heap);
}

#endif
/* SPDX-License-Identifier: MIT */
