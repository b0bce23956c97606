/* A made-up trace of 100 seconds with one function for each question of the page: a leak, a cache that
 * is filled once, one that is refilled, a churner, a spike, blocks that the minor collections promote
 * shortly before they die, and, of malloc, large blocks that live briefly. The program of
 * PLANTED_EXITS is that of malloc, and frees all in the last 20 ms of its run. */
#ifndef TESTS_PAGE_PLANTED_H
#define TESTS_PAGE_PLANTED_H

#include "analysis/load/estimate.h"
#include "base/random.h"
#include "base/words.h"
#include "support/tree_source.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *function;
  uint32_t caller;
} planted_nodes[] = {{"", 0},        {"main", 0},   {"serve", 1},  {"leaks", 2},         {"caches", 2},
                     {"refills", 2}, {"churns", 2}, {"spikes", 2}, {"dies_promoted", 2}, {"copies", 2}};
enum { LEAKS = 3, CACHES, REFILLS, CHURNS, SPIKES, DIES_PROMOTED, COPIES };

#define PLANTED_MS ((uint64_t)1000000)
enum planted_kind { PLANTED_MALLOC, PLANTED_COLLECTED, PLANTED_EXITS };
enum {
  PLANTED_RUN_MS = 100000,
  PLANTED_EXIT_MS = PLANTED_RUN_MS - 20,
  PLANTED_MINOR_MS = 100,
  PLANTED_MINOR_WORDS = 158000
};

struct planted_event {
  uint64_t time;
  enum { PLANTED_BORN, PLANTED_PROMOTED, PLANTED_FREED } what;
  uint64_t block, size;
  uint32_t node;
};

struct planted {
  struct trace_writer *writer;
  bool collected, exits;
  double rate;
  struct random random;
  struct planted_event *events;
  size_t count, capacity;
  uint64_t blocks;
};

static inline void planted_node(void *context, uint32_t node, uint32_t *parent, uint32_t *module,
                                uint64_t *offset) {
  (void)context;
  *parent = planted_nodes[node].caller;
  *module = 1;
  *offset = node;
}

static inline void planted_module(void *context, uint32_t module, struct trace_module *out) {
  (void)context, (void)module;
  *out = (struct trace_module){.base = TRACE_LANGUAGE_BASE,
                               .bias = TRACE_LANGUAGE_BASE,
                               .size = 1 << 20,
                               .path = trace_text_of("[planted]")};
}

static inline bool planted_place(void *context, uint32_t module, uint64_t offset, struct trace_place *out) {
  (void)context, (void)module;
  *out = (struct trace_place){.function = trace_text_of(planted_nodes[offset].function),
                              .file = trace_text_of("planted.x"),
                              .line = (uint32_t)(10 * offset)};
  return true;
}

static inline void planted_add(struct planted *planted, struct planted_event event) {
  if (planted->count == planted->capacity) {
    planted->capacity = planted->capacity ? 2 * planted->capacity : 4096;
    planted->events = realloc(planted->events, planted->capacity * sizeof *planted->events);
    if (!planted->events) abort();
  }
  planted->events[planted->count++] = event;
}

/* One block, if it is sampled. Times are in milliseconds; one that dies after the run is alive at its
 * end. A block that sees a minor collection is promoted. */
static inline void planted_block(struct planted *planted, uint32_t node, double born_ms, double died_ms,
                                 uint64_t size) {
  if (random_unit(&planted->random) >= inclusion_probability(planted->rate, malloc_words(size))) return;
  struct planted_event event = {(uint64_t)(born_ms * 1e6) + 1, PLANTED_BORN, ++planted->blocks, size, node};
  uint64_t next = (event.time / (PLANTED_MINOR_MS * PLANTED_MS) + 1) * PLANTED_MINOR_MS * PLANTED_MS;
  if (planted->exits && died_ms > PLANTED_EXIT_MS)
    died_ms = fmin(fmax(born_ms, PLANTED_EXIT_MS) + 19 * random_unit(&planted->random), PLANTED_RUN_MS);
  uint64_t died = (uint64_t)(died_ms * 1e6) + 1;
  planted_add(planted, event);
  if (planted->collected && node != SPIKES && died > next && next < PLANTED_RUN_MS * PLANTED_MS) {
    event.what = PLANTED_PROMOTED, event.time = next;
    planted_add(planted, event);
  }
  if (died_ms > PLANTED_RUN_MS) return;
  event.what = PLANTED_FREED, event.time = died;
  planted_add(planted, event);
}

static inline void planted_plant(struct planted *planted) {
  const double never = 2.0 * PLANTED_RUN_MS;
  for (int ms = 0; ms < PLANTED_RUN_MS; ms++) {
    double refilled = (ms / 20000 + 1) * 20000.0;
    if (ms % 10 == 0) planted_block(planted, LEAKS, ms, never, 400);
    if (ms >= 1000 && ms < 3000)
      for (int i = 0; i < 10; i++) planted_block(planted, CACHES, ms, never, 1000);
    if (ms % 4 == 0) planted_block(planted, REFILLS, ms, refilled + 1, 1000);
    for (int i = 0; i < 20; i++)
      planted_block(planted, CHURNS, ms, ms + 5 * random_unit(&planted->random), 500);
    if (ms >= 50000 && ms < 50300)
      for (int i = 0; i < 2; i++) planted_block(planted, SPIKES, ms, 52000, 100000);
    for (int i = 0; i < 2; i++)
      planted_block(planted, DIES_PROMOTED, ms, ms + 150 + 100 * random_unit(&planted->random), 1000);
  }
  for (int ms = 0; !planted->collected && ms < PLANTED_RUN_MS; ms += 200)
    planted_block(planted, COPIES, ms, ms + 2, 200000);
}

static inline int planted_by_time(const void *a, const void *b) {
  const struct planted_event *one = a, *other = b;
  if (one->time != other->time) return one->time < other->time ? -1 : 1;
  return one->block != other->block ? (one->block < other->block ? -1 : 1)
                                    : (int)one->what - (int)other->what;
}

static inline void planted_write_event(const struct planted *planted, const struct planted_event *event) {
  struct trace_sample sample = {.time_ns = event->time, .thread = 1, .block = event->block};
  switch (event->what) {
  case PLANTED_BORN:
    sample.size = event->size;
    sample.words = malloc_words(event->size);
    sample.n_samples = 1;
    sample.stack = event->node;
    sample.major = planted->collected && event->node == SPIKES;
    tree_write_sample(planted->writer, &sample);
    return;
  case PLANTED_PROMOTED:
    trace_write_promote(planted->writer,
                        &(struct trace_promote){.time_ns = event->time, .thread = 1, .block = event->block});
    return;
  case PLANTED_FREED:
    trace_write_free(planted->writer,
                     &(struct trace_free){.time_ns = event->time, .thread = 1, .block = event->block});
  }
}

/* The end of minor collection n; each tenth ends a major cycle, and a few pauses are long. */
static inline void planted_write_heap(const struct planted *planted, uint64_t n) {
  struct trace_collection now = {.time_ns = n * PLANTED_MINOR_MS * PLANTED_MS, .thread = 1, .domains = 1};
  struct trace_pause pause = {.time_ns = now.time_ns, .thread = 1, .count = n, .kind = TRACE_PAUSE_MINOR};
  now.ns = n ? 400000 : 0;
  now.kind = n ? TRACE_COLLECTION_MINOR : TRACE_COLLECTION_NONE;
  now.minor_words = n * PLANTED_MINOR_WORDS;
  now.promoted_words = n * 30000;
  now.minor_collections = n;
  now.major_cycles = n / 10;
  now.heap_words = 4000000 + 500 * n;
  now.live_words = n < 10 ? 0 : 3000000;
  trace_write_collection(planted->writer, &now);
  if (!n) return;
  pause.ns = 300000 + n % 50 * 10000 + (n % 250 == 0 ? 8000000 : 0);
  pause.total_ns = n * 1000000;
  trace_write_pause(planted->writer, &pause);
  if (n % 10) return;
  now.kind = TRACE_COLLECTION_MAJOR, now.ns = 900 * PLANTED_MS;
  trace_write_collection(planted->writer, &now);
}

static inline wn_status planted_write(const char *path, enum planted_kind kind, uint64_t seed) {
  bool collected = kind == PLANTED_COLLECTED;
  struct tree_source source = {.node = planted_node, .module = planted_module, .place = planted_place};
  struct planted planted = {.collected = collected, .exits = kind == PLANTED_EXITS, .rate = 2e-4};
  struct trace_options options = {.path = path};
  struct trace_run run = {.command = trace_text_of("planted"),
                          .host = trace_text_of("host"),
                          .heap = trace_text_of(collected ? "winnow" : "malloc"),
                          .pid = 1,
                          .rate = planted.rate,
                          .word_bytes = 8,
                          .stack_depth = 1024,
                          .seed = seed,
                          .wall_ns = 1700000000000000000u};
  wn_status error = tree_writer_open(&options, &run, &source, &planted.writer);
  if (error) return error;
  random_seed(&planted.random, seed, 0, 0);
  planted_plant(&planted);
  qsort(planted.events, planted.count, sizeof *planted.events, planted_by_time);
  uint64_t n = 0, step = PLANTED_MINOR_MS * PLANTED_MS;
  if (collected) trace_write_domain(planted.writer, &(struct trace_domain){.what = TRACE_DOMAIN_BEGINS});
  for (size_t i = 0; i < planted.count; i++) {
    for (; collected && n * step <= planted.events[i].time; n++) planted_write_heap(&planted, n);
    planted_write_event(&planted, &planted.events[i]);
  }
  trace_write_end(planted.writer,
                  &(struct trace_end){.time_ns = PLANTED_RUN_MS * PLANTED_MS, .kind = TRACE_END_EXIT});
  trace_writer_close(planted.writer);
  free(planted.events);
  return WN_OK;
}

#endif
/* SPDX-License-Identifier: MIT */
