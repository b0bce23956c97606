/* The major collector's cycle.
 *
 *   IDLE --enough was allocated--> MARK --all reachable is marked--> SWEEP --all is swept--> IDLE
 *
 * The phase changes only while the world is stopped, at the end of a minor collection, when all
 * minor heaps are empty.
 *
 * COLOURS. New blocks of the major heap, promoted ones too, get the colour `store.live_colour`.
 * When a cycle begins, that becomes the other colour: all blocks are unmarked, and the roots are
 * marked. When marking ends, the unmarked blocks are garbage, and sweeping frees them. When
 * sweeping ends, only one colour is left, and the next cycle can begin.
 *
 * SNAPSHOT. What is reachable when the cycle begins is marked, whatever the program does meanwhile:
 * the write barrier marks the value that a store overwrites (barrier.h), and later blocks are born
 * marked. So marking need neither scan handles again nor stop the program.
 *
 * PACE. Let L be the words that the last cycle found live, and A = L * space_overhead / 100, at
 * least two minor heaps. A cycle begins when A / 2 words were allocated since the last one ended.
 * Marking is paced to take A / 8 of allocation, sweeping A / 16. Blocks that die before marking
 * begins are freed by the same cycle, later ones by the next cycle only. So a long idle phase and
 * fast marking cost the least work for the memory in use, which is about L * (1 + space_overhead /
 * 100) at most. At each minor collection `debt` is computed: by how many words marking and
 * sweeping, with the helpers' work, are behind that pace. Domains do this work in short slices
 * between the pieces of a minor heap (nursery.h), and when they allocate in the major heap, for what
 * they allocated there (allocate.c). External memory counts as allocated words (EXTERNAL).
 *
 * YOUNG. A program that promotes little would keep what it has let go for long. So YOUNG_LIVES
 * times L words of minor heaps, or YOUNG_HEAPS minor heaps if that is more, count for A / 2. The
 * cycle is paced by these words, or by the words that were allocated if that is more. Marking thus
 * costs such a program a few percent at most.
 *
 * WITHOUT A STOP. What domains allocate in the major heap fills no minor heap. So for each half of a
 * minor heap of it a domain computes the debt itself, and does its slices. It collects then only if
 * the next phase may begin, or if the heap is being marked and A / 8 words were added to it since the
 * last collection: what is left to mark may be with other domains.
 *
 * LIMIT. A heap that would grow beyond its limit has a smaller A (limit.h).
 *
 * TIME. In a large heap that is still long. So if there are helper threads, a cycle begins as well
 * when TIME_PART times as long has passed since the last one as that took of all threads, and
 * TIME_LEAST_NS. Without helper threads what a program allocates alone decides when cycles
 * begin. */
#ifndef GC_COLLECT_MAJOR_H
#define GC_COLLECT_MAJOR_H

#include "gc/domains/domain.h"

/* PACE and EXTERNAL, of a heap.
 *
 * CREDIT. What an old block gives up of the bytes outside that were counted since the cycle began,
 * it or another block may have again without being counted: a buffer that shrinks and grows makes
 * no garbage. `allocated` cannot be lowered instead, since it must not fall below `phase_began`.
 * external_credit <= external_made - external_made_before, always. */
struct pace {
  _Atomic(size_t) allocated;       /* words added to the major heap since the last cycle ended */
  double by_young;                 /* YOUNG: words that minor heaps count for since then */
  _Atomic(size_t) live_words;      /* words that the sweep of the last cycle found live */
  _Atomic(int64_t) debt;           /* words of marking and sweeping by which the collector is late */
  size_t phase_goal;               /* estimated words of work in the phase */
  size_t phase_began;              /* the words that pace the cycle, when the phase began */
  size_t collected;                /* the same at the end of the last minor collection */
  uint64_t cycle_began_ns;         /* 0: none began yet */
  size_t cycle_began, cycle_words; /* `allocated` when the cycle began; what was added during the last one */
  _Atomic(size_t) work_done;       /* words in the phase, by domains and helpers */
  _Atomic(uint64_t) work_ns;       /* TIME: of marking and sweeping since the last cycle ended */
  uint64_t cycle_took_ns;          /* what work_ns was when the last cycle ended */
  uint64_t cycle_ended_ns;         /* of the first: when the heap was opened */
  _Atomic(size_t) external_made;   /* bytes that old custom blocks ever had outside */
  size_t external_made_before;     /* the same when the cycle began */
  _Atomic(size_t) external_credit; /* CREDIT: bytes given up, which the next ones use first */
  _Atomic(size_t) external_live;   /* bytes that the last cycle found, without those that were new */
};

enum collect {
  COLLECT_MINOR = 1,
  COLLECT_CYCLE = 2,   /* begins a cycle, if none is in progress */
  COLLECT_COMPACT = 4, /* compacts, if no cycle is in progress */
};

/* Lets threads that wait share the collections of this heap (SHARED COLLECTION of safepoint.h).
 * Called before the first collection. */
void major_open(struct wn_heap *heap);

/* Empties the minor heaps, and advances the cycle. If another domain is collecting, only waits for
 * that collection. */
void major_collect(struct wn_domain *domain, unsigned what, enum stop_cause cause);

/* The same, and does all of this domain's part of the debt. Called for a domain that allocates
 * outside its minor heap. */
void major_collect_and_slice(struct wn_domain *domain, enum stop_cause cause);

/* WITHOUT A STOP: does this domain's part of the debt, and then collects if that is due. Called for
 * a domain that allocated half a minor heap in the major heap. */
void major_pay(struct wn_domain *domain, enum stop_cause cause);

/* As major_collect, by the leader of a stopped world, which stays stopped. */
void major_collect_stopped(struct wn_domain *leader, unsigned what);

/* Completes the cycle in progress; if there is none, begins and completes one. */
void major_finish_cycle(struct wn_domain *domain, enum stop_cause cause);

/* Frees all that is unreachable now. Calls nothing of the program. */
void major_full(struct wn_domain *domain, enum stop_cause cause);

/* Compacts the major heap (compact.h). Calls nothing of the program. */
void major_compact(struct wn_domain *domain, enum stop_cause cause);

/* Whether a block with this header is dead, as the last marking found: what its fields lead to may
 * have been freed. */
static inline bool major_knows_dead(const struct wn_heap *heap, wn_value header) {
  return heap_phase(heap) == PHASE_SWEEP && header_colour(header) != heap_live_colour(heap);
}

/* Marks or sweeps about `words` words. Returns how many; less if this domain finds no more work at
 * the moment. */
size_t major_work(struct wn_domain *domain, size_t words);

/* TIME. Counts marking or sweeping since `began_ns`. */
void major_count_time(struct wn_heap *heap, uint64_t began_ns);

/* Returns A of PACE. */
size_t major_allowance(const struct wn_heap *heap);

/* EXTERNAL. Returns for how many words the external bytes of a custom block count in PACE. As much
 * as custom_major_ratio percent of the heap and of its external bytes counts as 1.5 A, and no block
 * counts for more than A. Garbage is at its peak when a cycle begins to sweep: it is then what died
 * since the marking of the cycle before began, about 0.9 A. So garbage outside stays within two
 * thirds of the ratio; with the default ratio of 44, within 30 percent (`heap_own_outside churn
 * born replace 256 20000`: 26 percent; 39 if it counted as A). External memory that is kept never
 * adds work. The allowance is at least that of a small heap with the default ratio. */
size_t major_external_words(const struct wn_heap *heap, size_t bytes);

/* EXTERNAL. Whether a collection is due for external bytes that count for `words` and that no other
 * check has counted: a cycle is to begin, or a slice of the one in progress to be done. */
bool major_external_is_due(const struct wn_heap *heap, size_t words);

/* Does the slices of `pieces` pieces of the domain's minor heap. */
void major_slice(struct wn_domain *domain, unsigned pieces);

/* Returns how many words a slice would have now, by the debt. */
size_t major_slice_words(const struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
