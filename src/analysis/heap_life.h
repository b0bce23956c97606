/* How a collected heap lived: its collections, pauses and domains, made consistent. */
#ifndef ANALYSIS_HEAP_LIFE_H
#define ANALYSIS_HEAP_LIFE_H

#include "sources/source.h"

/* Pauses that are shorter have no record of their own. */
enum { PAUSE_LONG_NS = 100000 };

struct heap_life {
  /* Ordered by time, once settled; those that contradict the others are left out. Empty: no
   * collected heap's trace. */
  struct trace_collection *collections;
  size_t collection_count, collection_capacity;
  /* Ordered by time: those that can be, of known kinds. */
  struct trace_pause *pauses;
  size_t pause_count, pause_capacity;
  struct trace_domain *domains;
  size_t domain_count, domain_capacity;

  /* Read so far; `wrong` ones are left out of the above. */
  struct {
    uint64_t collections, pauses, domains, wrong;
  } records;

  /* Settled. */
  uint64_t *cycles; /* when each cycle of the major collector began, in order */
  size_t cycle_count;
  struct {
    uint64_t count, total_ns;
  } paused[TRACE_PAUSES];
  struct trace_pause longest; /* ns 0: none of the length of PAUSE_LONG_NS */
  uint64_t domains_begun, domains_most;
  double domain_ns; /* how long domains lived, added up */
};

/* Takes an event; others than a heap's leave no trace. False without memory. */
bool heap_life_keep(struct heap_life *life, const struct trace_event *event);

/* After the last event. False without memory. */
bool heap_life_settle(struct heap_life *life, uint64_t end_ns);
void heap_life_destroy(struct heap_life *life);

/* Whether the trace tells of the heap at all: that of a collected heap need not. */
static inline bool heap_life_is_told(const struct heap_life *life) { return life->collection_count > 0; }

/* What was counted between the first record and the last; kind and time are the last one's. */
struct trace_collection heap_life_total(const struct heap_life *life);

/* The record with the largest heap. */
struct trace_collection heap_life_largest(const struct heap_life *life);

/* Pauses of all kinds. */
uint64_t heap_life_pauses(const struct heap_life *life);
double heap_life_paused_ns(const struct heap_life *life);

/* The length that 99 of 100 pauses do not exceed, or PAUSE_LONG_NS if it is less than that. */
uint64_t heap_life_pause_99(const struct heap_life *life);

/* Whether a promoted block was found dead by the first cycle that began after its promotion, told
 * by safepoints: it was freed before the cycle behind that one began. Not known if that cycle did
 * not end in the trace. */
enum next_cycle { NEXT_CYCLE_UNKNOWN, NEXT_CYCLE_DEAD, NEXT_CYCLE_ALIVE };
enum next_cycle heap_life_next_cycle(const struct heap_life *life, uint64_t promoted_ns, uint64_t died_ns);

/* WORDS CLOCK: how many words the heap has allocated by a time, promoted ones not again; between
 * two points it runs evenly. */
struct words_clock {
  uint64_t *ns;
  double *words;
  size_t count;
};
bool words_clock_create(struct words_clock *clock, size_t points);
void words_clock_add(struct words_clock *clock, uint64_t ns, double words); /* neither goes back */
void words_clock_destroy(struct words_clock *clock);
double words_clock_at(const struct words_clock *clock, uint64_t ns);

/* By the collections. False without memory. */
bool heap_life_clock(const struct heap_life *life, struct words_clock *clock);

#endif
/* SPDX-License-Identifier: MIT */
