/* What tests of the heap do again and again: options, allocation, lists, numbers of the collector,
 * domains. */
#ifndef TESTS_GC_BLOCKS_H
#define TESTS_GC_BLOCKS_H

#include "support/test.h"

#include <stdatomic.h>
#include <winnow/gc.h>

/* ---- options ---- */

/* How far helpers get is the system's choice: without them the collector's steps are the
 * program's. */
static inline bool give_null(wn_domain *domain, size_t words, void *context) {
  (void)domain, (void)words, (void)context;
  return false;
}
static inline void give_null_too(wn_domain *domain, void *context) { (void)domain, (void)context; }

/* Makes calls give null handles where memory or handles are used up. */
static inline void check_handles(wn_heap_options *options) {
  options->hooks.out_of_memory = give_null;
  options->hooks.out_of_handles = give_null_too;
}

static inline wn_heap_options without_helpers(void) {
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.helper_threads = 0;
  return options;
}

/* ---- blocks ---- */

/* A block of one field with a number in it. */
static inline wn_ref block_of(wn_domain *domain, intptr_t n) {
  wn_ref block = wn_alloc(domain, 1, 3);
  assert_false(wn_is_null(block));
  wn_set_int(domain, block, 0, n);
  return block;
}

static inline intptr_t number_of(wn_ref block) { return wn_to_int(wn_field(block, 0)); }

/* So many blocks that are dead at once. */
static inline void allocate(wn_domain *domain, long blocks, size_t words) {
  for (long i = 0; i < blocks; i++) {
    WN_SCOPE(domain);
    assert_false(wn_is_null(wn_alloc(domain, words, 1)));
  }
}

/* A list of `length` blocks of `words` words, linked by their first fields. */
static inline wn_ref make_list(wn_domain *domain, long length, size_t words) {
  wn_ref list = wn_root(domain, wn_int(0));
  for (long i = 0; i < length; i++) {
    WN_SCOPE(domain);
    wn_ref block = wn_alloc(domain, words, 1);
    assert_false(wn_is_null(block));
    wn_set(domain, block, 0, list);
    wn_assign(list, block);
  }
  return list;
}

static inline long length_of(wn_domain *domain, wn_ref list) {
  WN_SCOPE(domain);
  long length = 0;
  for (wn_ref at = wn_root(domain, wn_value_of(list)); !wn_is_int(wn_value_of(at)); length++)
    *at.slot = wn_field(at, 0);
  return length;
}

/* ---- the collector ---- */

static inline wn_gc_stat quick_stat(wn_domain *domain) {
  wn_gc_stat stat;
  assert_int_equal(wn_gc_quick_stat(domain, &stat), WN_OK);
  return stat;
}

/* With what always holds of it. */
static inline wn_gc_stat read_stat(wn_domain *domain) {
  wn_gc_stat stat;
  assert_int_equal(wn_gc_read_stat(domain, &stat), WN_OK);
  assert_int_equal(stat.live_words + stat.free_words + stat.fragments, stat.heap_words);
  assert_true(stat.top_heap_words >= stat.heap_words);
  assert_true(stat.minor_words >= stat.promoted_words);
  assert_true(stat.major_words >= stat.promoted_words);
  assert_true(stat.largest_free <= stat.free_words);
  assert_true((stat.free_blocks == 0) == (stat.free_words == 0));
  return stat;
}

static inline wn_gc_control get_control(wn_domain *domain) {
  wn_gc_control control;
  assert_int_equal(wn_gc_get(domain, &control), WN_OK);
  return control;
}

static inline void set_control(wn_domain *domain, const wn_gc_control *control) {
  assert_int_equal(wn_gc_set(domain, control), WN_OK);
}

/* ---- domains ---- */

static inline wn_join *spawn(wn_domain *domain, wn_body *body, void *argument) {
  wn_join *join;
  assert_int_equal(wn_domain_spawn(domain, body, argument, &join), WN_OK);
  return join;
}

static inline void join_wait(wn_domain *domain, wn_join *join) {
  assert_int_equal(wn_join_wait(domain, join), WN_OK);
}

/* Domains take turns by steps: each waits, at safepoints, until another has taken the step before
 * its own. */
static inline void wait_for_step(wn_domain *domain, const _Atomic(int) *step, int wanted) {
  while (atomic_load(step) < wanted) wn_poll(domain);
}

#endif
/* SPDX-License-Identifier: MIT */
