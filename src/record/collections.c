/* What a collected heap tells its trace: collections, pauses, and domains that begin and end. */
#include "record/recorder_state.h"

#define HEAP_INTERVAL ((uint64_t)1000 * 1000) /* between records of short pauses, and of minor collections */
#define LONG_PAUSE    ((uint64_t)100 * 1000)

static void write_pause(struct recorder *recorder, wn_domain *domain, struct trace_pause pause) {
  pause.thread = recorder->thread(domain);
  trace_write_pause(recorder->writer, &pause);
}

/* Whether a pause gets a record of its own: a long pause does, and a short one if none of its kind
 * did for HEAP_INTERVAL. */
static bool is_pause_due(struct pauses *pauses, uint64_t time, uint64_t ns) {
  uint64_t due = atomic_load_explicit(&pauses->due, memory_order_relaxed);
  if (ns < LONG_PAUSE && time < due) return false;
  return atomic_compare_exchange_strong_explicit(&pauses->due, &due, time + HEAP_INTERVAL,
                                                 memory_order_relaxed, memory_order_relaxed) ||
         ns >= LONG_PAUSE;
}

/* ---- shared ---- */

void recorder_collection(struct recorder *recorder, wn_domain *domain, enum recorder_collection kind,
                         uint64_t ns, void (*ask)(void *context, struct recorder_heap *heap), void *context) {
  struct recorder_heap heap;
  uint64_t time = recorder_now(recorder);
  if (!recorder_is_ours(recorder) || (kind == RECORDER_MINOR && time < recorder->collection_due)) return;
  recorder->collection_due = time + HEAP_INTERVAL;
  ask(context, &heap);
  struct trace_collection event = {.time_ns = time,
                                   .thread = recorder->thread(domain),
                                   .kind = (uint8_t)kind,
                                   .ns = ns < time ? ns : time,
                                   .minor_words = heap.minor_words,
                                   .promoted_words = heap.promoted_words,
                                   .direct_words = heap.direct_words,
                                   .minor_collections = heap.minor_collections,
                                   .major_cycles = heap.major_cycles,
                                   .heap_words = heap.heap_words,
                                   .live_words = heap.live_words,
                                   .domains = heap.domains};
  trace_write_collection(recorder->writer, &event);
}

void recorder_pause(struct recorder *recorder, wn_domain *domain, uint64_t number, enum recorder_pause kind,
                    uint64_t ns) {
  struct pauses *pauses = &recorder->pauses[kind];
  uint64_t time = recorder_now(recorder);
  if (!recorder_is_ours(recorder)) return;
  if (ns > time) ns = time; /* the pause began before the trace */
  uint64_t count = atomic_fetch_add_explicit(&pauses->count, 1, memory_order_relaxed) + 1;
  uint64_t total = atomic_fetch_add_explicit(&pauses->total_ns, ns, memory_order_relaxed) + ns;
  if (!is_pause_due(pauses, time, ns)) return;
  write_pause(recorder, domain,
              (struct trace_pause){.time_ns = time,
                                   .domain = number,
                                   .kind = (uint8_t)kind,
                                   .ns = ns,
                                   .count = count,
                                   .total_ns = total});
}

void recorder_domain(struct recorder *recorder, uint64_t number, bool begins) {
  if (!recorder_is_ours(recorder)) return;
  struct trace_domain event = {.time_ns = recorder_now(recorder),
                               .domain = number,
                               .what = begins ? TRACE_DOMAIN_BEGINS : TRACE_DOMAIN_ENDS};
  trace_write_domain(recorder->writer, &event);
}

void recorder_pauses_end(struct recorder *recorder) {
  if (!recorder_is_ours(recorder)) return;
  for (unsigned kind = 0; kind < RECORDER_PAUSES; kind++) {
    struct trace_pause totals = {.time_ns = recorder_now(recorder),
                                 .kind = (uint8_t)kind,
                                 .count = atomic_load(&recorder->pauses[kind].count),
                                 .total_ns = atomic_load(&recorder->pauses[kind].total_ns)};
    if (totals.count) write_pause(recorder, NULL, totals);
  }
}
/* SPDX-License-Identifier: MIT */
