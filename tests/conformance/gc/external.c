/* What the heap keeps outside: when it is released, how it hastens collections, and that memory
 * stays bounded. */
#include "gc/journal.h"

#include "base/check.h"

static _Atomic(long) outside, most_outside;
static void release(void *bytes) { atomic_fetch_sub(&outside, *(long *)bytes); }
static const wn_custom_ops counted = {"counted", release}, nothing = {"nothing", NULL};

static wn_ref make_outside(wn_domain *domain, long bytes) {
  wn_ref block = wn_alloc_custom(domain, &counted, sizeof bytes, (size_t)bytes);
  assert_false(wn_is_null(block));
  *(long *)wn_bytes(block) = bytes;
  long now = atomic_fetch_add(&outside, bytes) + bytes;
  if (now > atomic_load(&most_outside)) atomic_store(&most_outside, now);
  return block;
}

static void buffers_of_up_to_a_megabyte_stay_bounded(void **state) { /* G47 */
  (void)state;
  struct journal of;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  atomic_store(&most_outside, 0);
  for (long i = 0; i < (TINY ? 3000 : 100000); i++) {
    WN_SCOPE(of.domain);
    make_outside(of.domain, i * 2654435761 % (1 << 20));
  }
  assert_true(atomic_load(&most_outside) < 64L << 20);
  journal_close(&of);
  assert_int_equal(atomic_load(&outside), 0);
}

static void byte_blocks_of_up_to_a_megabyte_stay_bounded(void **state) { /* G47 */
  (void)state;
  struct journal of;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  for (long i = 0; i < (TINY ? 2000 : 4000); i++) {
    WN_SCOPE(of.domain);
    assert_false(wn_is_null(wn_alloc_bytes(of.domain, (size_t)(i * 2654435761 % (1 << 20)))));
  }
  assert_true(quick_stat(of.domain).top_heap_words < 8L << 20);
  journal_close(&of);
}

/* Cycles that old blocks with 2000 times so much outside cause, while `retained` bytes are kept
 * there. */
static long cycles_by(const wn_heap_options *options, long bytes, long retained) {
  struct journal of;
  long cycles;
  journal_open(&of, options);
  {
    WN_SCOPE(of.domain);
    for (long i = 0; i < retained; i += 1 << 20) make_outside(of.domain, 1 << 20);
    wn_gc_full_major(of.domain);
    long before = quick_stat(of.domain).major_collections;
    for (int i = 0; i < 2000; i++) {
      WN_SCOPE(of.domain);
      make_outside(of.domain, bytes);
      allocate(of.domain, 10, 20);
    }
    cycles = quick_stat(of.domain).major_collections - before;
  }
  journal_close(&of);
  return cycles;
}

static void the_major_ratio_decides_how_often_what_is_outside_is_collected(void **state) { /* G47 */
  (void)state;
  wn_heap_options options = without_helpers();
  options.parameters.minor_heap_size = 1000;
  options.parameters.custom_minor_max_size = 1;
  options.parameters.custom_major_ratio = 22;
  long many = cycles_by(&options, 2000, 0);
  options.parameters.custom_major_ratio = 176;
  long few = cycles_by(&options, 2000, 0);
  assert_true(few > 0 && many >= 3 * few);
}

static void what_is_retained_outside_adds_no_cycles(void **state) { /* G47 */
  (void)state;
  wn_heap_options options = without_helpers();
  options.parameters.minor_heap_size = 1000;
  options.parameters.custom_minor_max_size = 1;
  long without = cycles_by(&options, 2000, 0), with = cycles_by(&options, 2000, 64 << 20);
  assert_true(with < without);
}

/* Cycles that young blocks with so much outside cause, all of which become old before they die. */
static long cycles_by_survivors(long bytes) {
  enum { KEPT = 64 };
  struct journal of;
  wn_heap_options options = without_helpers();
  options.parameters.minor_heap_size = 1000;
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    wn_ref kept = wn_alloc(of.domain, KEPT, 0);
    for (size_t i = 0; i < 3000; i++) {
      WN_SCOPE(of.domain);
      wn_set(of.domain, kept, i % KEPT, make_outside(of.domain, bytes));
      if (i % 8 == 0) wn_gc_minor(of.domain);
    }
  }
  long cycles = quick_stat(of.domain).major_collections;
  journal_close(&of);
  return cycles;
}

static void what_survivors_have_outside_hastens_cycles_once_they_are_old(void **state) { /* G47 */
  (void)state;
  long few = cycles_by_survivors(8), many = cycles_by_survivors(7000);
  assert_true(many >= 2 * few + 5);
}

static long collections_by_young(long ratio) {
  struct journal of;
  wn_heap_options options = without_helpers();
  options.parameters.custom_minor_ratio = ratio;
  options.parameters.minor_heap_size = 32768;
  journal_open(&of, &options);
  for (int i = 0; i < 1000; i++) {
    WN_SCOPE(of.domain);
    make_outside(of.domain, 2622); /* a hundredth of a minor heap */
  }
  long collections = quick_stat(of.domain).minor_collections;
  journal_close(&of);
  return collections;
}

static void the_minor_ratio_decides_how_often_young_ones_are_collected(void **state) { /* G46 */
  (void)state;
  assert_in_range(collections_by_young(100), 9, 11);
  assert_in_range(collections_by_young(50), 19, 21);
  assert_in_range(collections_by_young(1000), 0, 1);
}

static void blocks_with_more_outside_than_the_limit_are_born_old(void **state) { /* G46 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  wn_gc_control control;
  assert_int_equal(wn_gc_get(of.domain, &control), WN_OK);
  control.custom_minor_max_size = 500;
  assert_int_equal(wn_gc_set(of.domain, &control), WN_OK);
  {
    WN_SCOPE(of.domain);
    double minor = wn_gc_minor_words(of.domain);
    make_outside(of.domain, 501);
    assert_true(wn_gc_minor_words(of.domain) == minor);
    make_outside(of.domain, 500);
    assert_true(wn_gc_minor_words(of.domain) == minor + 4);
  }
  journal_close(&of);
  assert_int_equal(atomic_load(&outside), 0);
}

/* ---- release ---- */

static void dead_outside(wn_domain *domain, long bytes) {
  WN_SCOPE(domain);
  make_outside(domain, bytes);
}

static void dead_custom_blocks_are_released_young_ones_by_the_next_minor_collection(void **state) {
  /* G43, G44 */
  (void)state;
  struct journal of;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    wn_ref kept = make_outside(of.domain, 7), old = make_outside(of.domain, 1000);
    wn_gc_minor(of.domain);
    dead_outside(of.domain, 50);
    assert_int_equal(atomic_load(&outside), 1057);
    wn_gc_minor(of.domain);
    assert_int_equal(atomic_load(&outside), 1007);
    wn_assign_int(old, 0);
    wn_gc_minor(of.domain);
    assert_int_equal(atomic_load(&outside), 1007); /* an old one is for the major collector */
    wn_gc_full_major(of.domain);
    assert_int_equal(atomic_load(&outside), 7);
    assert_int_equal(*(long *)wn_bytes(kept), 7);
  }
  journal_close(&of);
  assert_int_equal(atomic_load(&outside), 0); /* closing released the last one */
}

static void closing_a_heap_releases_custom_blocks_of_every_size(void **state) { /* G44 */
  (void)state;
  const size_t sizes[] = {8, 5000, 3000000};
  struct journal of;
  journal_open(&of, NULL);
  for (int i = 0; i < 3; i++) {
    WN_SCOPE(of.domain);
    wn_ref block = wn_alloc_custom(of.domain, &counted, sizes[i], 0);
    *(long *)wn_bytes(block) = 1;
    atomic_fetch_add(&outside, 1);
    assert_non_null(wn_global_new(of.domain, block));
  }
  wn_gc_full_major(of.domain);
  assert_int_equal(atomic_load(&outside), 3);
  journal_close(&of);
  assert_int_equal(atomic_load(&outside), 0);
}

struct rites {
  long outside, bytes;
};

static void look_at_bytes(wn_domain *domain, wn_ref value, void *context) {
  struct rites *rites = context;
  (void)domain;
  *rites = (struct rites){atomic_load(&outside), *(long *)wn_bytes(value)};
}

static void a_custom_block_with_a_finaliser_is_released_after_that(void **state) { /* G44 */
  (void)state;
  struct journal of;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  for (int old = 0; old < 2; old++) {
    struct rites rites = {0};
    {
      WN_SCOPE(of.domain);
      wn_ref block = make_outside(of.domain, 7);
      if (old) wn_gc_minor(of.domain);
      assert_int_equal(wn_gc_finalise(of.domain, look_at_bytes, &rites, block), WN_OK);
    }
    wn_gc_full_major(of.domain);
    assert_int_equal(rites.outside, 7);
    assert_int_equal(rites.bytes, 7);
    assert_int_equal(atomic_load(&outside), 7);
    wn_gc_full_major(of.domain);
    assert_int_equal(atomic_load(&outside), 0);
  }
  journal_close(&of);
}

static void hundreds_of_thousands_of_custom_blocks_are_each_released_once(void **state) { /* G44 */
  (void)state;
  enum { BLOCKS = TINY ? 10000 : 300000 };
  struct journal of;
  journal_open(&of, NULL);
  for (int round = 0; round < 2; round++) {
    WN_SCOPE(of.domain);
    wn_ref list = wn_root(of.domain, wn_int(0));
    for (long i = 0; i < BLOCKS; i++) {
      WN_SCOPE(of.domain);
      wn_ref custom = make_outside(of.domain, 1);
      if (i % 3 == 0) wn_assign(list, wn_pair(of.domain, 0, list, custom));
    }
    assert_in_range(atomic_load(&outside), BLOCKS / 3, BLOCKS);
    wn_assign_int(list, 0);
    wn_gc_full_major(of.domain);
    assert_int_equal(atomic_load(&outside), 0);
  }
  journal_close(&of);
  assert_int_equal(atomic_load(&outside), 0);
}

static void one_block_counts_as_a_cycle_at_most_however_much_it_has_outside(void **state) { /* G47 */
  (void)state;
  struct journal of;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    assert_false(wn_is_null(wn_alloc_custom(of.domain, &nothing, 8, (size_t)1 << 60)));
    long before = quick_stat(of.domain).major_collections;
    allocate(of.domain, 8 * get_control(of.domain).minor_heap_size / 10, 9);
    assert_in_range(quick_stat(of.domain).major_collections - before, 0, 2);
  }
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      one_thread_test(buffers_of_up_to_a_megabyte_stay_bounded),
      one_thread_test(byte_blocks_of_up_to_a_megabyte_stay_bounded),
      cmocka_unit_test(the_major_ratio_decides_how_often_what_is_outside_is_collected),
      cmocka_unit_test(what_is_retained_outside_adds_no_cycles),
      cmocka_unit_test(what_survivors_have_outside_hastens_cycles_once_they_are_old),
      cmocka_unit_test(the_minor_ratio_decides_how_often_young_ones_are_collected),
      cmocka_unit_test(blocks_with_more_outside_than_the_limit_are_born_old),
      cmocka_unit_test(dead_custom_blocks_are_released_young_ones_by_the_next_minor_collection),
      cmocka_unit_test(closing_a_heap_releases_custom_blocks_of_every_size),
      cmocka_unit_test(a_custom_block_with_a_finaliser_is_released_after_that),
      cmocka_unit_test(hundreds_of_thousands_of_custom_blocks_are_each_released_once),
      cmocka_unit_test(one_block_counts_as_a_cycle_at_most_however_much_it_has_outside),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
