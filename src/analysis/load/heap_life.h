/* The life of a collected heap: its collections, pauses and domains, made consistent, and the words
 * clock. */
#pragma once

#include "sources/source.h"

/* The recorder writes no record for a single pause that is shorter; it only adds it to the totals.
 */
enum { PAUSE_LONG_NS = 100000 };

struct heap_life {
  /* Ordered by time once complete, without the records that contradict the others. Empty: the trace
   * has no records of a collected heap. */
  struct trace_collection *collections;
  size_t collection_count, collection_capacity;
  /* Ordered by time; only plausible records of known kinds. */
  struct trace_pause *pauses;
  size_t pause_count, pause_capacity;
  struct trace_domain *domains;
  size_t domain_count, domain_capacity;

  /* Numbers of records that were read; `wrong` of them were left out of the above. */
  struct {
    uint64_t collections, pauses, domains, wrong;
  } records;

  /* Set by heap_life_complete. */
  uint64_t *cycles; /* the time at which each cycle of the major collector began, in order */
  size_t cycle_count;
  struct {
    uint64_t count, total_ns;
  } paused[TRACE_PAUSES];
  struct trace_pause longest; /* ns 0: none was as long as PAUSE_LONG_NS */
  uint64_t domains_begun, domains_most;
  double domain_ns; /* the sum of the lives of all domains */
};

/* Keeps an event of a collected heap; ignores all other events. False without memory. */
bool heap_life_keep(struct heap_life *life, const struct trace_event *event);

/* Call it once, after the last event. False without memory. */
bool heap_life_complete(struct heap_life *life, uint64_t end_ns);
void heap_life_destroy(struct heap_life *life);

/* Whether the trace has collection records; the trace of a collected heap may have none. */
static inline bool heap_life_is_recorded(const struct heap_life *life) { return life->collection_count > 0; }

/* The words that the heap has allocated, by a record. */
static inline uint64_t heap_life_allocated(const struct trace_collection *record) {
  return record->minor_words + record->direct_words;
}

/* The differences of the counters between the first record and the last; kind, time and sizes are
 * those of the last. */
struct trace_collection heap_life_total(const struct heap_life *life);

/* Whether the records tell of the whole run: the first and the last one are near its begin and end. */
bool heap_life_is_whole(const struct heap_life *life, uint64_t end_ns);

/* The record in which the heap is largest. */
struct trace_collection heap_life_largest(const struct heap_life *life);

/* The number and the total length of the pauses of all kinds. */
uint64_t heap_life_pauses(const struct heap_life *life);
double heap_life_paused_ns(const struct heap_life *life);

/* The length that this share of the pauses did not exceed, or PAUSE_LONG_NS if that is shorter. */
uint64_t heap_life_pause_at(const struct heap_life *life, double share);

/* Whether the first cycle that began after the promotion of a block found it dead. A death is
 * recorded at a safepoint after the cycle that finds it, so the block counts as found dead if its
 * death was recorded before the cycle after that one began. UNKNOWN: no cycle that began after the
 * promotion ended in the trace. */
enum next_cycle { NEXT_CYCLE_UNKNOWN, NEXT_CYCLE_DEAD, NEXT_CYCLE_ALIVE };
enum next_cycle heap_life_next_cycle(const struct heap_life *life, uint64_t promoted_ns, uint64_t died_ns);

/* The number of times at or before `ns`; `times` is in order. */
size_t times_until(const uint64_t *times, size_t count, uint64_t ns);

/* WORDS CLOCK: how many words the heap has allocated by a time. Promotion does not count as
 * allocation. Between two points the clock advances linearly. Points are added in order: neither
 * time nor words may decrease. */
struct words_clock {
  uint64_t *ns;
  double *words;
  size_t count;
};
bool words_clock_create(struct words_clock *clock, size_t points);
void words_clock_add(struct words_clock *clock, uint64_t ns, double words);
void words_clock_destroy(struct words_clock *clock);
double words_clock_at(const struct words_clock *clock, uint64_t ns);
/* SPDX-License-Identifier: MIT */
