/* Memtrace files for tests: made of random events, and read back. */
#ifndef TESTS_SOURCES_MEMTRACE_CASE_H
#define TESTS_SOURCES_MEMTRACE_CASE_H

#include "support/test.h"

#include "memtrace/reader.h"
#include "sources/memtrace_codes.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define CASE_BEGIN_US ((uint64_t)1700000000123456)

enum { CASE_DOMAINS = 5, CASE_DEPTH = 64 };

/* An event as it was written. */
struct written {
  enum memtrace_kind kind;
  uint64_t time_us, block, length, samples;
  unsigned domain, source;
  uint64_t *codes;
  size_t depth;
  bool promoted, collected; /* later */
};

struct made {
  struct memtrace_writer writer;
  struct writer_domain *domains[CASE_DOMAINS];
  struct written *events;
  size_t count, capacity;
  uint64_t state; /* of the random numbers */
  uint64_t now_us;
  uint64_t stack[CASE_DOMAINS][CASE_DEPTH];
  size_t depth[CASE_DOMAINS];
};

static inline uint64_t made_random(struct made *made, uint64_t bound) {
  made->state = made->state * 6364136223846793005u + 1442695040888963407u;
  return (made->state >> 33) % bound;
}

static inline struct written *made_add(struct made *made, struct written event) {
  if (made->count == made->capacity) {
    made->capacity = 2 * made->capacity + 64;
    made->events = realloc(made->events, made->capacity * sizeof *made->events);
    assert_non_null(made->events);
  }
  made->events[made->count] = event;
  return &made->events[made->count++];
}

static inline void made_begin(struct made *made, unsigned version, unsigned domains, uint64_t seed) {
  *made = (struct made){.state = seed * 977 + 1, .now_us = CASE_BEGIN_US};
  codes_begin(&made->writer, version, 0.01, CASE_BEGIN_US);
  for (unsigned i = 0; i < domains; i++)
    assert_non_null(made->domains[i] = writer_domain_begin(&made->writer, i, CASE_BEGIN_US));
}

static inline void made_end(struct made *made) {
  for (size_t i = 0; i < made->count; i++) free(made->events[i].codes);
  free(made->events);
  memtrace_writer_end(&made->writer);
}

static inline void made_write(struct made *made) {
  for (unsigned i = 0; i < CASE_DOMAINS; i++)
    if (made->domains[i]) writer_domain_end(&made->writer, made->domains[i]);
}

static inline uint64_t made_allocate(struct made *made, unsigned domain, int64_t length, int64_t samples,
                                     enum writer_source source, const uint64_t *codes, size_t depth) {
  struct written event = {.kind = MEMTRACE_ALLOCATION,
                          .time_us = made->now_us - CASE_BEGIN_US,
                          .length = (uint64_t)length,
                          .samples = (uint64_t)samples,
                          .domain = domain,
                          .source = source};
  event.block = writer_allocate(&made->writer, made->domains[domain], made->now_us, length, samples, source,
                                codes, depth);
  event.depth = depth;
  event.codes = malloc((depth + 1) * sizeof *codes);
  assert_non_null(event.codes);
  memcpy(event.codes, codes, depth * sizeof *codes);
  return made_add(made, event)->block;
}

static inline void made_change(struct made *made, unsigned domain, enum memtrace_kind kind, uint64_t block) {
  (kind == MEMTRACE_PROMOTION ? writer_promote : writer_collect)(&made->writer, made->domains[domain],
                                                                 made->now_us, block);
  made_add(made,
           (struct written){
               .kind = kind, .time_us = made->now_us - CASE_BEGIN_US, .block = block, .domain = domain});
}

/* A stack that begins as the last one of the domain. Most of its codes are few ones that come again in
 * the same order. */
static inline void made_vary_stack(struct made *made, unsigned domain, uint64_t codes) {
  uint64_t *stack = made->stack[domain];
  size_t kept = made_random(made, made->depth[domain] + 1);
  size_t depth = kept + made_random(made, CASE_DEPTH - kept);
  for (size_t i = kept; i < depth; i++)
    stack[i] = i && made_random(made, 4) ? stack[i - 1] % codes + 1 : made_random(made, codes) + 1;
  made->depth[domain] = depth;
}

/* Random events of so many domains, of which the times rise. */
static inline void made_random_events(struct made *made, unsigned domains, size_t count, uint64_t codes) {
  for (size_t i = 0; i < count; i++) {
    unsigned domain = (unsigned)made_random(made, domains);
    made->now_us += made_random(made, 50) ? 1 + made_random(made, 1000) : 40000000;
    size_t other = made_random(made, made->count + 1);
    bool change = made_random(made, 3) == 0 && other < made->count &&
                  made->events[other].kind == MEMTRACE_ALLOCATION && !made->events[other].collected;
    if (change && made_random(made, 2)) {
      made->events[other].collected = true;
      made_change(made, domain, MEMTRACE_COLLECTION, made->events[other].block);
    } else if (change && !made->events[other].promoted && made->events[other].source == WRITER_MINOR) {
      made->events[other].promoted = true;
      made_change(made, made->events[other].domain, MEMTRACE_PROMOTION, made->events[other].block);
    } else {
      bool usual = made_random(made, 4);
      int64_t length = usual ? (int64_t)made_random(made, 17) : (int64_t)1 << made_random(made, 40);
      made_vary_stack(made, domain, codes);
      made_allocate(made, domain, length, usual ? 1 : 1 + (int64_t)made_random(made, 400),
                    usual ? WRITER_MINOR : (enum writer_source)made_random(made, 3), made->stack[domain],
                    made->depth[domain]);
    }
  }
}

/* The path of a file with these bytes, until the next call. */
static inline const char *case_file(const void *bytes, size_t count) {
  static char path[64];
  static int descriptor = -1;
  if (descriptor < 0) descriptor = memfd_create("memtrace", MFD_CLOEXEC);
  assert_true(descriptor >= 0 && !ftruncate(descriptor, 0));
  assert_int_equal(pwrite(descriptor, bytes, count, 0), count);
  snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  return path;
}

static inline struct memtrace_reader *case_open(const void *bytes, size_t count) {
  struct memtrace_reader *reader;
  assert_int_equal(memtrace_reader_open(case_file(bytes, count), &reader), WN_OK);
  return reader;
}

/* Fails unless the event is the written one, but for frames that the file cannot have. */
static inline void assert_event(const struct memtrace_event *event, const struct written *written) {
  assert_int_equal(event->kind, written->kind);
  assert_int_equal(event->time_us, written->time_us);
  assert_int_equal(event->domain, written->domain);
  assert_int_equal(event->block, written->block);
  if (event->kind != MEMTRACE_ALLOCATION) return;
  assert_int_equal(event->length, written->length);
  assert_int_equal(event->samples, written->samples);
  assert_int_equal(event->source, written->source);
  assert_false(event->stack.lost);
  assert_true(event->stack.depth <= written->depth);
  assert_memory_equal(event->stack.codes, written->codes, event->stack.depth * sizeof *written->codes);
}

#endif
/* SPDX-License-Identifier: MIT */
