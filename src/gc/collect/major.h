/* The major collector's cycle.
 *
 *   IDLE --enough was allocated--> MARK --everything reachable is marked--> SWEEP --everything is swept--> IDLE
 *
 * The phase changes only while the world is stopped, at the end of a minor collection: all minor heaps are empty then.
 *
 * COLOURS. New blocks of the major heap, promoted ones too, get the colour `marked`. When a cycle begins, `marked` becomes
 * the other colour, so that everything there is unmarked, and the roots are marked. When marking ends, what is unmarked
 * is garbage; sweeping makes it free. When sweeping ends, only one colour is left, and the next cycle can begin.
 *
 * SNAPSHOT. What is reachable when the cycle begins is marked, whatever the program does meanwhile: the write barrier marks what
 * it overwrites (barrier.h); what comes later is born marked. So marking needs neither to look at handles again nor to
 * stop the program.
 *
 * PACE. Let L be the words that the last cycle found live, and A = L * space_overhead / 100, at least two minor heaps. A
 * cycle begins when A / 2 words were allocated since the last one ended; marking is paced to take A / 8 of allocation, sweeping
 * A / 16. What dies before marking begins is found by the same cycle, what dies later by the next one only; so idling long and
 * then marking fast costs the least work for the memory, and about L * (1 + space_overhead / 100) is in use at most. At each
 * minor collection `debt` is how far marking and sweeping are behind that, helpers' work counted; domains work it off in
 * slices between the pieces of a minor heap (nursery.h), none of which is long. External memory counts as words that were
 * allocated (EXTERNAL). */
#ifndef GC_COLLECT_MAJOR_H
#define GC_COLLECT_MAJOR_H

#include "gc/world/domain.h"

enum collect {
  COLLECT_MINOR = 1,
  COLLECT_CYCLE = 2, /* begins a cycle, if none runs */
};

/* Empties the minor heaps, and moves the cycle on, unless another domain collects: then waits for that. */
void major_collect(struct wn_domain *domain, unsigned what, enum stop_cause cause);

/* The same, and all of the debt that is the domain's: for who allocates without its minor heap. */
void major_collect_and_slice(struct wn_domain *domain, enum stop_cause cause);

/* The same as major_collect by the leader of a world that is stopped, which stays so. */
void major_collect_stopped(struct wn_domain *leader, unsigned what);

/* Completes the cycle that runs, or a new one. */
void major_finish_cycle(struct wn_domain *domain, enum stop_cause cause);

/* Collects all that is unreachable now. Runs no callbacks. */
void major_full(struct wn_domain *domain, enum stop_cause cause);

/* Marks or sweeps about so many words. Returns how many; less if there is no more for this domain to do now. */
size_t major_work(struct wn_domain *domain, size_t words);

/* A in PACE. */
size_t major_allowance(const struct wn_heap *heap);

/* EXTERNAL. The words that a custom block's bytes outside count for in PACE. In a cycle custom_major_ratio percent of the heap
 * and of what is outside may become garbage there; that much counts as A, and no block as more. What is retained
 * outside so never adds work. At least as much is allowed as in a small heap, by the default ratio, by A. */
size_t major_external_words(const struct wn_heap *heap, size_t bytes);

/* Works off the parts of the debt that belong to so many pieces of the domain's minor heap. */
void major_slice(struct wn_domain *domain, unsigned shares);

/* The words that a slice would have now. */
size_t major_slice_words(const struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
