/* Custom blocks that get more or less outside than they had: how that hastens collections, what a
 * shrink gives back, and that the sum stays exact. */
#include "gc/journal.h"

#include "base/check.h"
#include "gc/domains/domain.h"

static _Atomic(long) released;
static void count_release(void *bytes) { (void)bytes, atomic_fetch_add(&released, 1); }
static const wn_custom_ops counted = {"counted", count_release};

static size_t outside(const struct journal *of) { return atomic_load(&of->heap->store.external); }

static wn_ref custom_with(wn_domain *domain, size_t external_bytes) {
  wn_ref block = wn_alloc_custom(domain, &counted, 8, external_bytes);
  assert_false(wn_is_null(block));
  return block;
}

static void adjust(wn_domain *domain, wn_ref block, size_t external_bytes) {
  assert_int_equal(wn_custom_adjust(domain, block, external_bytes), WN_OK);
}

static void open_small(struct journal *of, long minor_words) {
  wn_heap_options options = without_helpers();
  options.parameters.minor_heap_size = minor_words;
  journal_open(of, &options);
}

/* ---- growth ---- */

static void growth_of_young_blocks_hastens_minor_collections_as_their_allocation_does(void **state) {
  /* G48 */
  (void)state;
  struct journal of;
  open_small(&of, 32768);
  for (int i = 0; i < 1000; i++) {
    WN_SCOPE(of.domain);
    wn_ref block = custom_with(of.domain, 22);
    adjust(of.domain, block, 1022);
    adjust(of.domain, block, 2622); /* a hundredth of a minor heap */
  }
  assert_in_range(quick_stat(of.domain).minor_collections, 9, 11);
  journal_close(&of);
}

/* Cycles that 2000 old blocks cause, which are born with `first` bytes outside and get 2000. */
static long cycles_by(size_t first) {
  struct journal of;
  wn_heap_options options = without_helpers();
  options.parameters.minor_heap_size = 1000;
  options.parameters.custom_minor_max_size = 0;
  journal_open(&of, &options);
  for (int i = 0; i < 2000; i++) {
    WN_SCOPE(of.domain);
    adjust(of.domain, custom_with(of.domain, first), 2000);
    allocate(of.domain, 10, 20);
  }
  long cycles = quick_stat(of.domain).major_collections;
  journal_close(&of);
  return cycles;
}

static void growth_of_old_blocks_hastens_cycles_as_their_allocation_does(void **state) { /* G48 */
  (void)state;
  long born = cycles_by(2000), grown = cycles_by(1);
  assert_true(born >= 10);
  assert_in_range(grown, born - born / 10 - 1, born + born / 10 + 1);
}

/* Nothing else is allocated: growth itself must collect. */
static void buffers_that_grow_stay_bounded(void **state) { /* G48 */
  (void)state;
  enum { BYTES = 256 << 10, BLOCKS = 2000 };
  struct journal of;
  open_small(&of, 32768);
  size_t most = 0;
  for (int i = 0; i < BLOCKS; i++) {
    WN_SCOPE(of.domain);
    wn_ref block = custom_with(of.domain, 0);
    for (size_t bytes = BYTES / 16; bytes <= BYTES; bytes *= 2) adjust(of.domain, block, bytes);
    if (outside(&of) > most) most = outside(&of);
  }
  assert_true(most < (size_t)BYTES * 8);
  journal_close(&of);
}

/* The most that is outside, by what is live, while random ones of 128 buffers are replaced. */
static double excess_of_churn(bool grown) {
  enum { KEPT = 128, BYTES = 256 << 10, ROUNDS = 5000 };
  struct journal of;
  size_t most = 0;
  open_small(&of, 32768);
  {
    WN_SCOPE(of.domain);
    wn_ref kept = wn_alloc(of.domain, KEPT, 0);
    for (size_t i = 0; i < ROUNDS; i++) {
      WN_SCOPE(of.domain);
      wn_ref block = custom_with(of.domain, grown ? 0 : BYTES);
      for (size_t bytes = BYTES / 16; grown && bytes <= BYTES; bytes *= 2) adjust(of.domain, block, bytes);
      wn_set(of.domain, kept, i < KEPT ? i : (size_t)(i * 2654435761 >> 7) % KEPT, block);
      if (outside(&of) > most) most = outside(&of);
    }
  }
  journal_close(&of);
  return (double)most / ((double)KEPT * BYTES);
}

static void what_is_outside_stays_within_thirty_percent_of_what_is_live(void **state) { /* G47 */
  (void)state;
  for (int grown = 0; grown < 2; grown++) {
    double excess = excess_of_churn(grown);
    assert_true(excess >= 1 && excess <= (TINY ? 1.35 : 1.3)); /* whose slices are shorter */
  }
}

/* ---- shrinks ---- */

/* Collections that a block causes which gets 100000 bytes 2000 times, and gives them back. */
static void count_collections_of_a_pump(bool old, long *minor, long *major) {
  struct journal of;
  open_small(&of, 32768);
  {
    WN_SCOPE(of.domain);
    wn_ref block = custom_with(of.domain, 10);
    if (old) wn_gc_minor(of.domain);
    wn_gc_stat before = quick_stat(of.domain);
    for (int i = 0; i < 2000; i++) {
      adjust(of.domain, block, 100010);
      assert_int_equal(outside(&of), 100010);
      adjust(of.domain, block, 10);
      assert_int_equal(outside(&of), 10);
    }
    *minor = quick_stat(of.domain).minor_collections - before.minor_collections;
    *major = quick_stat(of.domain).major_collections - before.major_collections;
  }
  journal_close(&of);
}

static void a_buffer_that_grows_and_shrinks_hastens_nothing(void **state) { /* G48 */
  (void)state;
  for (int old = 0; old < 2; old++) {
    long minor, major;
    count_collections_of_a_pump(old, &minor, &major);
    assert_in_range(minor, 0, 2);
    assert_in_range(major, 0, 1);
  }
}

static void what_shrank_does_not_pay_for_what_was_there_before_the_cycle(void **state) { /* G48 */
  (void)state;
  struct journal of;
  wn_heap_options options = without_helpers();
  options.parameters.minor_heap_size = 1000;
  options.parameters.custom_minor_max_size = 0;
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    wn_ref kept = custom_with(of.domain, 64 << 20);
    wn_gc_full_major(of.domain);
    adjust(of.domain, kept, 0);
    long before = quick_stat(of.domain).major_collections;
    for (int i = 0; i < 200; i++) {
      WN_SCOPE(of.domain);
      custom_with(of.domain, 1 << 20);
      allocate(of.domain, 10, 20);
    }
    assert_true(quick_stat(of.domain).major_collections - before >= 2);
  }
  journal_close(&of);
}

static void what_is_kept_by_growth_adds_no_cycles(void **state) { /* G48 */
  (void)state;
  long cycles[2];
  for (int big = 0; big < 2; big++) {
    struct journal of;
    open_small(&of, 32768);
    {
      WN_SCOPE(of.domain);
      wn_ref kept = custom_with(of.domain, 0);
      wn_gc_minor(of.domain);
      adjust(of.domain, kept, big ? (size_t)4 << 30 : 8);
      wn_gc_full_major(of.domain);
      long before = quick_stat(of.domain).major_collections;
      for (int i = 0; i < 1000; i++) {
        WN_SCOPE(of.domain);
        wn_alloc_bytes(of.domain, 20000);
      }
      cycles[big] = quick_stat(of.domain).major_collections - before;
    }
    journal_close(&of);
  }
  assert_true(cycles[0] > 0);
  assert_int_equal(cycles[1], cycles[0]);
}

/* ---- the sum ---- */

static void a_block_that_dies_releases_what_it_had_last(void **state) { /* G48 */
  (void)state;
  struct journal of;
  open_small(&of, 32768);
  atomic_store(&released, 0);
  for (int old = 0; old < 2; old++) {
    WN_SCOPE(of.domain);
    wn_ref kept = custom_with(of.domain, 5);
    wn_ref dying[] = {custom_with(of.domain, 0), custom_with(of.domain, 100), custom_with(of.domain, 1000)};
    if (old) wn_gc_minor(of.domain);
    adjust(of.domain, dying[0], 30000);
    adjust(of.domain, dying[1], 0);
    adjust(of.domain, dying[2], 1000);
    adjust(of.domain, kept, 7);
    assert_int_equal(outside(&of), 7 + 30000 + 1000);
    assert_int_equal(wn_gc_verify(of.domain, stderr), WN_OK);
    for (int i = 0; i < 3; i++) wn_assign_int(dying[i], 0);
    if (old) {
      wn_gc_minor(of.domain);
      assert_int_equal(outside(&of), 7 + 30000 + 1000);
      wn_gc_full_major(of.domain);
    } else {
      wn_gc_minor(of.domain);
    }
    assert_int_equal(outside(&of), 7);
    wn_assign_int(kept, 0);
    wn_gc_full_major(of.domain);
    assert_int_equal(outside(&of), 0);
  }
  assert_int_equal(released, 8);
  journal_close(&of);
}

static void a_wrong_sum_is_found_by_verify(void **state) { /* G48 */
  (void)state;
  struct journal of;
  open_small(&of, 32768);
  {
    WN_SCOPE(of.domain);
    custom_with(of.domain, 50);
    atomic_fetch_add(&of.heap->store.external, 1);
    assert_int_not_equal(wn_gc_verify(of.domain, NULL), 0);
    atomic_fetch_sub(&of.heap->store.external, 1);
    assert_int_equal(wn_gc_verify(of.domain, stderr), 0);
  }
  journal_close(&of);
}

enum { DOMAINS = 3, ROUNDS = TINY ? 2000 : 20000 };

struct shared {
  wn_global *block;
  _Atomic(unsigned) seed;
};

/* Adjusts a block that all domains have, and one that is its own; both are young at times. */
static void adjust_at_random(wn_domain *domain, void *argument) {
  struct shared *shared = argument;
  uint64_t random = 0x9e3779b97f4a7c15 * (1 + atomic_fetch_add(&shared->seed, 1));
  wn_ref own = custom_with(domain, 0);
  for (int i = 0; i < ROUNDS; i++) {
    WN_SCOPE(domain);
    random = random * 6364136223846793005u + 1442695040888963407u;
    adjust(domain, wn_global_get(domain, shared->block), random >> 44);
    adjust(domain, own, random >> 20 & 0xfffff);
    if (random >> 60 == 0) wn_global_set(domain, shared->block, custom_with(domain, 100));
    allocate(domain, 3, 10);
  }
}

static void domains_may_adjust_one_block_at_once(void **state) { /* G48 */
  (void)state;
  struct journal of;
  wn_join *joins[DOMAINS];
  journal_open(&of, NULL);
  struct shared shared = {0};
  {
    WN_SCOPE(of.domain);
    shared.block = wn_global_new(of.domain, custom_with(of.domain, 0));
  }
  {
    WN_SCOPE(of.domain);
    for (int i = 0; i < DOMAINS; i++)
      assert_int_equal(wn_domain_spawn(of.domain, adjust_at_random, &shared, &joins[i]), WN_OK);
    for (int i = 0; i < DOMAINS; i++) assert_int_equal(wn_join_wait(of.domain, joins[i]), WN_OK);
    assert_int_equal(wn_gc_verify(of.domain, stderr), WN_OK);
    adjust(of.domain, wn_global_get(of.domain, shared.block), 12345);
    wn_gc_full_major(of.domain);
    assert_int_equal(outside(&of), 12345);
    wn_global_free(of.domain, shared.block);
  }
  wn_gc_full_major(of.domain);
  assert_int_equal(outside(&of), 0);
  journal_close(&of);
}

/* ---- mistakes ---- */

static void only_custom_blocks_can_be_adjusted(void **state) { /* G48 */
  (void)state;
  struct journal of;
  open_small(&of, 32768);
  {
    WN_SCOPE(of.domain);
    const wn_ref wrong[] = {
        {NULL}, wn_root(of.domain, wn_int(7)), wn_alloc_bytes(of.domain, 100), wn_alloc(of.domain, 3, 0)};
    for (int i = 0; i < 4; i++) {
      assert_int_equal(wn_custom_adjust(of.domain, wrong[i], 1000), WN_EINVAL);
      assert_string_equal(wn_last_error(), "custom adjust: the handle is of no custom block");
    }
    assert_int_equal(outside(&of), 0);
  }
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(growth_of_young_blocks_hastens_minor_collections_as_their_allocation_does),
      cmocka_unit_test(growth_of_old_blocks_hastens_cycles_as_their_allocation_does),
      cmocka_unit_test(buffers_that_grow_stay_bounded),
      cmocka_unit_test(what_is_outside_stays_within_thirty_percent_of_what_is_live),
      cmocka_unit_test(a_buffer_that_grows_and_shrinks_hastens_nothing),
      cmocka_unit_test(what_shrank_does_not_pay_for_what_was_there_before_the_cycle),
      cmocka_unit_test(what_is_kept_by_growth_adds_no_cycles),
      cmocka_unit_test(a_block_that_dies_releases_what_it_had_last),
      cmocka_unit_test(a_wrong_sum_is_found_by_verify),
      cmocka_unit_test(domains_may_adjust_one_block_at_once),
      cmocka_unit_test(only_custom_blocks_can_be_adjusted),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
