/* The members of a recorder, for the files that make it up. */
#pragma once

#include "base/kept_file.h"
#include "base/os.h"
#include "base/stripe.h"
#include "record/block_types.h"
#include "record/measurements.h"
#include "record/recorder.h"
#include "record/titles.h"
#include "trace/writer.h"
#include <stdatomic.h>

enum { NAMED_THREADS = 1 << 16, NUMBERS = 1024, HITS_COUNTED = 1 << 16 };

/* The number that the stripe gives next, less 1. If that is a multiple of NUMBERS, the stripe must
 * take more numbers. */
struct numbers {
  _Alignas(STRIPE_BYTES) _Atomic(uint64_t) next;
};

/* Pauses of one kind, so far. */
struct pauses {
  _Alignas(STRIPE_BYTES) _Atomic(uint64_t) count, total_ns;
  _Atomic(uint64_t) due; /* from this time on, a short pause is written, too */
};

struct recorder {
  /* Set by recorder_open; constant afterwards. */
  struct trace_writer *writer;
  struct callstacks *callstacks;
  uint32_t (*thread)(wn_domain *domain);
  double (*trial_rate)(void);
  double rate; /* where there is no trial_rate */
  uint64_t start_ns;
  uint32_t pid;
  const _Atomic(bool) *ours; /* OURS */
  bool generations;
  enum recorder_types told_types;
  const char *(*tag_name)(unsigned tag, void *context);
  void *tag_context;
  bool (*measure)(uint64_t rss_bytes, bool last);
  void (*spent)(uint64_t *cost_ns, uint64_t *processor_ns);
  void (*ask)(struct recorder_answer *answer, bool last);
  bool (*group)(struct cgroup_state *state);
  void (*stray)(void);
  struct kept_file statm;
  /* Written by the thread that reports a collection. */
  uint64_t collection_due;
  /* Written by any thread. */
  struct numbers numbers[STRIPES];
  _Alignas(STRIPE_BYTES) _Atomic(uint64_t) numbers_taken; /* by stripes */
  struct measurements measurements;
  _Atomic(uint64_t) group_due; /* the time from which on the control group is read again */
  struct titles titles;
  _Atomic(uint64_t) hits;         /* sampled words, or a few less; counted up to HITS_COUNTED */
  _Atomic(bool) tells_of_another; /* the trace has a record of another process */
  struct pauses pauses[RECORDER_PAUSES];
  _Atomic(uint8_t) named[NAMED_THREADS / 8]; /* bits of threads whose names are written */
  struct block_types types;
  _Atomic(uint64_t) dropped; /* chunks that were by the last measurement (trace_writer_dropped) */
};

/* The time of an event, in nanoseconds since the trace began. */
static inline uint64_t recorder_now(const struct recorder *recorder) {
  return os_monotonic_ns() - recorder->start_ns;
}
/* SPDX-License-Identifier: MIT */
