/* How each program on our heap begins and ends: one heap with the defaults, one domain. */
#ifndef BENCH_HEAP_PROGRAM_H
#define BENCH_HEAP_PROGRAM_H

#include <winnow/events.h>
#include <winnow/heap.h>
#include <winnow/memprof.h>

#include "sequence.h"
#include <time.h>

struct program {
  wn_heap *heap;
  wn_domain *domain;
};

static inline void program_check(wn_status status) {
  if (!status) return;
  fprintf(stderr, "%s\n", wn_last_error());
  exit(2);
}

/* PROFILE_RATE in the environment: the program is profiled at that rate, by a tracker that follows
 * each block to its end. PROFILE_DEPTH: with callstacks of at most so many frames. */
static inline void *program_born(wn_domain *domain, const wn_allocation *allocation, void *context) {
  (void)domain, (void)allocation;
  return context;
}
static inline void *program_promoted(wn_domain *domain, void *metadata, void *context) {
  (void)domain, (void)context;
  return metadata;
}
static inline void program_died(wn_domain *domain, void *metadata, void *context) {
  (void)domain, (void)metadata;
  ++*(long *)context;
}
static inline void program_profile(wn_domain *domain) {
  static long deaths;
  wn_memprof_options options = WN_MEMPROF_DEFAULTS;
  wn_tracker tracker = {.alloc_minor = program_born,
                        .alloc_major = program_born,
                        .promote = program_promoted,
                        .dealloc_minor = program_died,
                        .dealloc_major = program_died,
                        .context = &deaths};
  wn_profile *profile;
  if (!getenv("PROFILE_RATE")) return;
  options.sampling_rate = atof(getenv("PROFILE_RATE"));
  if (getenv("PROFILE_DEPTH")) options.callstack_size = (size_t)atol(getenv("PROFILE_DEPTH"));
  program_check(wn_memprof_start(domain, &options, &tracker, &profile));
}

/* COMPACTION_TIME in the environment: told at the end are the compactions, and their processor time. It
 * counts from the begin of the minor collection that each compaction follows. */
static struct {
  long count;
  double began, seconds;
} program_compactions;

static inline double program_thread_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
static inline void program_hear(const wn_gc_event *event, void *context) {
  (void)context;
  double now = program_thread_seconds();
  if (event->kind == WN_GC_MINOR_BEGINS) program_compactions.began = now;
  if (event->kind != WN_GC_COMPACTION) return;
  program_compactions.count++;
  program_compactions.seconds += now - program_compactions.began;
}
static inline void program_listen(wn_domain *domain) {
  const uint64_t kinds = WN_GC_EVENT(WN_GC_MINOR_BEGINS) | WN_GC_EVENT(WN_GC_COMPACTION);
  wn_gc_listener *listener;
  if (!getenv("COMPACTION_TIME")) return;
  program_check(wn_gc_listen(domain, kinds, program_hear, NULL, &listener));
}

static inline struct program program_begin(void) {
  struct program program;
  program_check(wn_heap_open(NULL, &program.heap));
  program_check(wn_domain_attach(program.heap, &program.domain));
  program_profile(program.domain);
  program_listen(program.domain);
  return program;
}

static inline int program_end(struct program program) {
  program_check(wn_domain_detach(program.domain));
  program_check(wn_heap_close(program.heap));
  if (getenv("COMPACTION_TIME"))
    fprintf(stderr, "%ld compactions took %.3f s\n", program_compactions.count, program_compactions.seconds);
  return 0;
}

#endif
/* SPDX-License-Identifier: MIT */
