/* Deaths of old blocks: of every kind and found by every thread they are told once; and what a cycle
 * does for tracked blocks that live, which is nothing. */
#include "tracker.h"

#include "gc/compacting.h"
#include "gc/domains/domain.h"
#include "gc/store/store.h"

static _Atomic(long) released;
static void release(void *bytes) { (void)bytes, atomic_fetch_add(&released, 1); }
static const wn_custom_ops ops = {"outside", release};

enum kind { SMALL, MEDIUM, LARGE, CUSTOM_YOUNG, CUSTOM_OLD, CUSTOM_GROWN, CUSTOM_MEDIUM, KINDS };
static const int samples_of[KINDS] = {1, 1, 1, 2, 2, 2, 2};

/* An old block of a kind, after all its births were told. */
static wn_ref make(wn_domain *domain, enum kind kind) {
  wn_ref block = {NULL};
  switch (kind) {
  case SMALL: block = wn_alloc(domain, 3, 0); break;
  case MEDIUM: block = wn_alloc(domain, 1000, WN_TAG_RAW); break;
  case LARGE: block = wn_alloc(domain, 200000, WN_TAG_RAW); break;
  case CUSTOM_YOUNG: block = wn_alloc_custom(domain, &ops, 8, 64); break;
  case CUSTOM_OLD: block = wn_alloc_custom(domain, &ops, 8, 100000); break;
  case CUSTOM_GROWN: block = wn_alloc_custom(domain, &ops, 8, 0); break;
  case CUSTOM_MEDIUM: block = wn_alloc_custom(domain, &ops, 8000, 100000); break;
  case KINDS: break;
  }
  assert_false(wn_is_null(block));
  assert_int_equal(wn_gc_minor(domain), WN_OK);
  if (kind == CUSTOM_GROWN) assert_int_equal(wn_custom_adjust(domain, block, 5000), WN_OK);
  wn_poll(domain);
  return block;
}

static long births(const struct tracked *all) { return all->allocs_minor + all->allocs_major; }
static long deaths(const struct tracked *all) { return all->deallocs_minor + all->deallocs_major; }

static void verify(wn_domain *domain) { assert_int_equal(wn_gc_verify(domain, stderr), WN_OK); }

/* ---- each kind ---- */

static void each_kind_is_told_of_once(void **state) { /* M68 */
  (void)state;
  for (int kind = 0; kind < KINDS; kind++) {
    struct tracked all;
    tracked_open(&all, 1);
    {
      WN_SCOPE(all.of.domain);
      make(all.of.domain, (enum kind)kind);
      assert_int_equal(births(&all), samples_of[kind]);
      wn_gc_full_major(all.of.domain);
      verify(all.of.domain);
      assert_int_equal(deaths(&all), 0);
    }
    wn_gc_full_major(all.of.domain);
    verify(all.of.domain);
    assert_int_equal(all.deallocs_major, samples_of[kind]);
    assert_int_equal(all.deallocs_minor, 0);
    tracked_check(&all);
    tracked_close(&all);
  }
}

static void blocks_that_have_moved_are_told_of_when_they_die(void **state) { /* M71 */
  (void)state;
  for (int kind = 0; kind < KINDS; kind++) {
    struct tracked all;
    wn_heap_options options = without_helpers();
    options.text = MOVES_ALL;
    tracked_open_with(&all, &options);
    tracked_start(&all, 1);
    {
      WN_SCOPE(all.of.domain);
      wn_ref block = make(all.of.domain, (enum kind)kind);
      for (int i = 0; i < 3; i++) {
        wn_value before = *block.slot;
        compact_heap(all.of.domain);
        verify(all.of.domain);
        if (kind != LARGE) assert_true(*block.slot != before);
      }
      assert_int_equal(deaths(&all), 0);
    }
    wn_gc_full_major(all.of.domain);
    assert_int_equal(all.deallocs_major, samples_of[kind]);
    tracked_check(&all);
    tracked_close(&all);
  }
}

/* The memory of a dead block serves the next one at once, cycle after cycle. */
static void the_next_block_at_the_address_has_a_life_of_its_own(void **state) { /* M68 */
  enum { ROUNDS = 60, EACH = 40 };
  struct tracked all;
  (void)state;
  tracked_open(&all, 1);
  for (int round = 0; round < ROUNDS; round++) {
    WN_SCOPE(all.of.domain);
    for (int i = 0; i < EACH; i++) {
      WN_SCOPE(all.of.domain);
      make(all.of.domain, (enum kind)((i + round) % KINDS));
    }
    wn_gc_major_slice(all.of.domain, 1 << 12); /* so that some are swept between allocations */
  }
  verify(all.of.domain);
  wn_gc_full_major(all.of.domain);
  assert_int_equal(deaths(&all), births(&all));
  tracked_check(&all);
  tracked_close(&all);
}

static void count_last(wn_domain *domain, void *context) {
  struct tracked *all = context;
  (void)domain;
  assert_int_equal(deaths(all), births(all)); /* M69 */
  ++*(int *)all->test;
}

static void deaths_are_told_before_finalise_last_whatever_the_kind(void **state) { /* M69 */
  (void)state;
  for (int kind = 0; kind < KINDS; kind++) {
    struct tracked all;
    int called = 0;
    tracked_open(&all, 1);
    all.test = &called;
    {
      WN_SCOPE(all.of.domain);
      wn_ref block = make(all.of.domain, (enum kind)kind);
      assert_int_equal(wn_gc_finalise_last(all.of.domain, count_last, &all, block), WN_OK);
    }
    for (int i = 0; i < 1000 && !called; i++) { /* at a safepoint as soon as marking has ended */
      wn_gc_major_slice(all.of.domain, 1 << 10);
      wn_poll(all.of.domain);
    }
    assert_int_equal(called, 1);
    assert_int_equal(deaths(&all), samples_of[kind]);
    wn_gc_full_major(all.of.domain);
    tracked_check(&all);
    tracked_close(&all);
  }
}

/* ---- what a cycle does ---- */

static struct {
  void (*died)(struct store *store, wn_value block);
  _Atomic(long) asked;
} counted;

static void count_died(struct store *store, wn_value block) {
  atomic_fetch_add(&counted.asked, 1);
  counted.died(store, block);
}

static void a_cycle_asks_for_the_tracked_blocks_that_died_and_no_others(void **state) { /* M74b */
  enum { LIVE = 1000, DEAD = 10 };
  struct tracked all;
  (void)state;
  tracked_open(&all, 1);
  counted.died = all.of.heap->store.tracked_died;
  all.of.heap->store.tracked_died = count_died;
  {
    WN_SCOPE(all.of.domain);
    wn_ref table = wn_alloc(all.of.domain, LIVE, 0);
    for (size_t i = 0; i < LIVE; i++) {
      WN_SCOPE(all.of.domain);
      wn_set(all.of.domain, table, i, wn_alloc(all.of.domain, 2, 0));
    }
    wn_gc_full_major(all.of.domain);
    assert_int_equal(atomic_exchange(&counted.asked, 0), 0);
    for (size_t i = 0; i < DEAD; i++) wn_set_int(all.of.domain, table, i * (LIVE / DEAD), 0);
    wn_gc_full_major(all.of.domain);
    assert_int_equal(atomic_exchange(&counted.asked, 0), DEAD);
    assert_int_equal(deaths(&all), DEAD);
    assert_int_equal(wn_memprof_stop(all.of.domain), WN_OK);
    for (size_t i = 0; i < LIVE; i++) {
      WN_SCOPE(all.of.domain);
      wn_set(all.of.domain, table, i, wn_alloc(all.of.domain, 2, 0));
    }
    wn_gc_full_major(all.of.domain);
    assert_int_equal(atomic_exchange(&counted.asked, 0), LIVE - DEAD);
  }
  wn_gc_full_major(all.of.domain);
  assert_int_equal(atomic_exchange(&counted.asked, 0), 1); /* the table; the other blocks are not tracked */
  tracked_check(&all);
  tracked_close(&all);
}

/* ---- threads ---- */

struct churner {
  struct tracked *all;
  int rounds;
};

/* Replaces the blocks of a table, of all kinds but large ones. */
static void churn(wn_domain *domain, void *context) {
  const struct churner *churner = context;
  WN_SCOPE(domain);
  wn_ref table = wn_alloc(domain, 64, 0);
  for (int i = 0; i < churner->rounds; i++) {
    WN_SCOPE(domain);
    wn_ref block;
    switch (i % 4) {
    case 0: block = wn_alloc(domain, 3, 0); break;
    case 1: block = wn_alloc(domain, 300, WN_TAG_RAW); break;
    case 2: block = wn_alloc_custom(domain, &ops, 8, 20000); break;
    default: block = wn_alloc_custom(domain, &ops, 8, 40);
    }
    wn_set(domain, table, (size_t)(i * 7) % 64, block);
    if (i % 4 > 1) wn_custom_adjust(domain, block, (size_t)(i % 3) * 1000);
    wn_poll(domain);
  }
}

/* Domains and helpers sweep each other's blocks, and a domain ends before its blocks die. */
static void whichever_thread_sweeps_each_death_is_told_once(void **state) { /* M68 */
  (void)state;
  for (int helpers = 0; helpers < 3; helpers++) {
    struct tracked all;
    wn_heap_options options = WN_HEAP_DEFAULTS;
    options.helper_threads = helpers;
    options.parameters.minor_heap_size = 1 << 12;
    tracked_open_with(&all, &options);
    all.several = true;
    tracked_start(&all, 0.3);
    struct churner churner = {&all, TINY ? 2000 : 8000};
    wn_join *children[2];
    for (int i = 0; i < 2; i++) children[i] = spawn(all.of.domain, churn, &churner);
    churn(all.of.domain, &churner);
    for (int i = 0; i < 2; i++) join_wait(all.of.domain, children[i]);
    verify(all.of.domain);
    wn_gc_full_major(all.of.domain);
    wn_gc_full_major(all.of.domain);
    wn_memprof_count count = counts_of(all.profile);
    assert_int_equal(count.live_major + count.live_minor, 0);
    assert_int_equal(count.dealloc_major, all.deallocs_major);
    assert_int_equal(count.promotes, all.promotes);
    tracked_close(&all);
  }
}

/* While domains allocate, collect and sweep, their profile stops and is discarded. */
static void profiles_may_be_discarded_while_their_blocks_are_swept(void **state) { /* M74b */
  (void)state;
  struct tracked all;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.helper_threads = 1;
  options.parameters.minor_heap_size = 1 << 12;
  tracked_open_with(&all, &options);
  all.several = true;
  for (int round = 0; round < 10; round++) {
    tracked_start(&all, 1);
    struct churner churner = {&all, 800};
    wn_join *child = spawn(all.of.domain, churn, &churner);
    churn(all.of.domain, &churner);
    assert_int_equal(wn_memprof_stop(all.of.domain), WN_OK);
    assert_int_equal(wn_memprof_discard(all.profile), WN_OK);
    join_wait(all.of.domain, child);
    verify(all.of.domain);
  }
  wn_gc_full_major(all.of.domain);
  assert_int_equal(memprof_usage(&all.of.heap->engine).entries, 0);
  journal_close(&all.of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_kind_is_told_of_once),
      cmocka_unit_test(blocks_that_have_moved_are_told_of_when_they_die),
      one_thread_test(the_next_block_at_the_address_has_a_life_of_its_own),
      cmocka_unit_test(deaths_are_told_before_finalise_last_whatever_the_kind),
      cmocka_unit_test(a_cycle_asks_for_the_tracked_blocks_that_died_and_no_others),
      cmocka_unit_test(whichever_thread_sweeps_each_death_is_told_once),
      cmocka_unit_test(profiles_may_be_discarded_while_their_blocks_are_swept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
