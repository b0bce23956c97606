/* A heap with a profile whose tracker counts, for the tests of profiles on the collected heap. */
#ifndef TESTS_CONFORMANCE_TRACKER_H
#define TESTS_CONFORMANCE_TRACKER_H

#include "gc/journal.h"

struct tracked {
  struct journal of;
  wn_profile *profile;
  wn_tracker tracker;
  _Atomic(long) allocs_minor, allocs_major, promotes, deallocs_minor, deallocs_major;
  _Atomic(long) samples, words, trials; /* sums over what was born */
  wn_allocation last;                   /* that was born; not kept where several domains are told at once */
  bool several;
  void *test; /* what else the test's callbacks need */
};

/* That the calling thread was told of. */
static _Thread_local wn_allocation last_born;

static inline void *count_birth(struct tracked *all, const wn_allocation *allocation) {
  all->samples += (long)allocation->n_samples;
  all->words += (long)allocation->size;
  all->trials += (long)allocation->trials;
  last_born = *allocation;
  return all;
}

static inline void *tracked_alloc_minor(wn_domain *domain, const wn_allocation *allocation, void *context) {
  struct tracked *all = context;
  (void)domain;
  all->allocs_minor++;
  return count_birth(all, allocation);
}
static inline void *tracked_alloc_major(wn_domain *domain, const wn_allocation *allocation, void *context) {
  struct tracked *all = context;
  (void)domain;
  all->allocs_major++;
  return count_birth(all, allocation);
}
static inline void *tracked_promote(wn_domain *domain, void *minor, void *context) {
  (void)domain;
  ((struct tracked *)context)->promotes++;
  return minor;
}
static inline void tracked_dealloc_minor(wn_domain *domain, void *minor, void *context) {
  (void)domain, (void)minor;
  ((struct tracked *)context)->deallocs_minor++;
}
static inline void tracked_dealloc_major(wn_domain *domain, void *major, void *context) {
  (void)domain, (void)major;
  ((struct tracked *)context)->deallocs_major++;
}

static inline void tracked_start(struct tracked *all, double rate) {
  wn_memprof_options options = WN_MEMPROF_DEFAULTS;
  options.sampling_rate = rate;
  assert_int_equal(wn_memprof_start(all->of.domain, &options, &all->tracker, &all->profile), WN_OK);
}

/* A heap without helpers, so that its cycles are the program's, and a tracker that counts. */
static inline void tracked_open_with(struct tracked *all, const wn_heap_options *options) {
  *all = (struct tracked){.tracker = {.alloc_minor = tracked_alloc_minor,
                                      .alloc_major = tracked_alloc_major,
                                      .promote = tracked_promote,
                                      .dealloc_minor = tracked_dealloc_minor,
                                      .dealloc_major = tracked_dealloc_major}};
  all->tracker.context = all;
  journal_open(&all->of, options);
}
static inline void tracked_open_heap(struct tracked *all) {
  wn_heap_options options = without_helpers();
  options.parameters.minor_heap_size = 1 << 19; /* in the tiny build, too */
  tracked_open_with(all, &options);
}

static inline void tracked_open(struct tracked *all, double rate) {
  tracked_open_heap(all);
  tracked_start(all, rate);
}

/* The equations of wn_memprof_count. */
static inline wn_memprof_count counts_of(const wn_profile *profile) {
  wn_memprof_count count;
  wn_memprof_counts(profile, &count);
  assert_int_equal(count.allocs_minor,
                   count.promotes + count.dealloc_minor + count.live_minor + count.dropped_minor);
  assert_int_equal(count.promotes + count.allocs_major,
                   count.dealloc_major + count.live_major + count.dropped_major);
  return count;
}

/* And that the callbacks were as many. No callback is pending. */
static inline void tracked_check(struct tracked *all) {
  wn_memprof_count count = counts_of(all->profile);
  assert_int_equal(count.allocs_minor, all->allocs_minor);
  assert_int_equal(count.allocs_major, all->allocs_major);
  assert_int_equal(count.promotes, all->promotes);
  assert_int_equal(count.dealloc_minor, all->deallocs_minor);
  assert_int_equal(count.dealloc_major, all->deallocs_major);
}

static inline void tracked_close(struct tracked *all) {
  if (wn_memprof_is_sampling(all->of.domain)) assert_int_equal(wn_memprof_stop(all->of.domain), WN_OK);
  assert_int_equal(wn_memprof_discard(all->profile), WN_OK);
  journal_close(&all->of);
}

#endif
/* SPDX-License-Identifier: MIT */
