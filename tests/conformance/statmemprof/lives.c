/* The lives of sampled blocks of the collected heap: births of each kind, promotion, death. */
#include "tracker.h"

#include <math.h>

static void every_word_of_a_young_block_is_tried_at_rate_one(void **state) { /* M1, M2, M7, M12, M13 */
  struct tracked all;
  (void)state;
  tracked_open(&all, 1);
  {
    WN_SCOPE(all.of.domain);
    double before = wn_gc_minor_words(all.of.domain);
    for (size_t words = 1; words <= WN_MAX_YOUNG_WORDS; words++) wn_alloc(all.of.domain, words, 7);
    double after = wn_gc_minor_words(all.of.domain);
    wn_poll(all.of.domain);
    assert_int_equal(all.allocs_minor, WN_MAX_YOUNG_WORDS);
    assert_int_equal(all.samples, (long)(after - before));
    assert_int_equal(all.samples, all.trials);
    assert_int_equal(all.words + all.allocs_minor, all.trials);
    assert_int_equal(last_born.source, WN_SOURCE_NORMAL);
    assert_true(wn_callstack_depth(last_born.callstack) > 0);
  }
  tracked_check(&all);
  tracked_close(&all);
}

static void a_large_block_is_born_major(void **state) { /* M5, M12 */
  struct tracked all;
  (void)state;
  tracked_open(&all, 1);
  {
    WN_SCOPE(all.of.domain);
    wn_alloc(all.of.domain, 5000, 0);
    wn_alloc_bytes(all.of.domain, 10000000);
    wn_poll(all.of.domain);
    assert_int_equal(all.allocs_major, 2);
    assert_int_equal(all.allocs_minor, 0);
    assert_int_equal(all.samples, 5001 + 1250001);
  }
  wn_gc_full_major(all.of.domain);
  assert_int_equal(all.deallocs_major, 2);
  tracked_check(&all);
  tracked_close(&all);
}

static void blocks_of_a_group_are_told_one_by_one(void **state) { /* M3, M16 */
  const wn_shape shapes[] = {{1, 0}, {20, 1}, {3, WN_TAG_RAW}};
  struct tracked all;
  wn_ref blocks[3];
  (void)state;
  tracked_open(&all, 1);
  {
    WN_SCOPE(all.of.domain);
    assert_int_equal(wn_alloc_group(all.of.domain, 3, shapes, blocks), WN_OK);
    assert_int_equal(all.allocs_minor, 0);
    wn_poll(all.of.domain);
    assert_int_equal(all.allocs_minor, 3);
    assert_int_equal(all.samples, 2 + 21 + 4);
    assert_int_equal(last_born.size, 3);
  }
  tracked_check(&all);
  tracked_close(&all);
}

static void release_nothing(void *bytes) { (void)bytes; }

static void memory_outside_stands_trial_beside_its_block(void **state) { /* M13, M14 */
  static const wn_custom_ops ops = {"outside", release_nothing};
  struct tracked all;
  (void)state;
  tracked_open(&all, 1);
  {
    WN_SCOPE(all.of.domain);
    wn_alloc_custom(all.of.domain, &ops, 8, 801);
    wn_poll(all.of.domain);
    assert_int_equal(all.allocs_minor, 2);
    assert_int_equal(last_born.source, WN_SOURCE_CUSTOM);
    assert_int_equal(last_born.size, 101);
    assert_int_equal(last_born.bytes, 801);
    assert_int_equal(last_born.n_samples, 101);
  }
  wn_gc_minor(all.of.domain);
  assert_int_equal(all.deallocs_minor, 2);
  tracked_check(&all);
  tracked_close(&all);
}

static void growth_outside_is_sampled_and_dies_with_its_block(void **state) { /* M14 */
  static const wn_custom_ops ops = {"outside", release_nothing};
  struct tracked all;
  (void)state;
  tracked_open(&all, 1);
  for (int old = 0; old < 2; old++) {
    long samples = all.samples, births = all.allocs_minor + all.allocs_major;
    long deaths = all.deallocs_minor + all.deallocs_major;
    {
      WN_SCOPE(all.of.domain);
      wn_ref block = wn_alloc_custom(all.of.domain, &ops, 8, 80);
      if (old) wn_gc_minor(all.of.domain);
      assert_int_equal(wn_custom_adjust(all.of.domain, block, 801), WN_OK);
      wn_poll(all.of.domain);
      assert_int_equal(last_born.source, WN_SOURCE_CUSTOM);
      assert_int_equal(last_born.bytes, 721);
      assert_int_equal(last_born.n_samples, 91);
      assert_true(wn_callstack_depth(last_born.callstack) > 0);
      assert_int_equal(wn_custom_adjust(all.of.domain, block, 0), WN_OK);
      assert_int_equal(wn_custom_adjust(all.of.domain, block, 16), WN_OK);
      wn_poll(all.of.domain);
      assert_int_equal(last_born.bytes, 16);
      assert_int_equal(all.samples - samples, 4 + 10 + 91 + 2);
      assert_int_equal(all.allocs_minor + all.allocs_major - births, 4);
      wn_gc_full_major(all.of.domain);
      assert_int_equal(all.deallocs_minor + all.deallocs_major, deaths + 2); /* the first 801 bytes */
    }
    wn_gc_full_major(all.of.domain);
    assert_int_equal(all.deallocs_minor + all.deallocs_major, deaths + 4);
  }
  assert_int_equal(all.allocs_minor, 6);
  assert_int_equal(all.allocs_major, 2);
  tracked_check(&all);
  tracked_close(&all);
}

static void memory_outside_of_a_block_that_is_born_old_is_old(void **state) { /* M15 */
  static const wn_custom_ops ops = {"outside", release_nothing};
  struct tracked all;
  (void)state;
  tracked_open(&all, 1);
  size_t most = (size_t)get_control(all.of.domain).custom_minor_max_size;
  {
    WN_SCOPE(all.of.domain);
    wn_alloc_custom(all.of.domain, &ops, 8, most);
    wn_poll(all.of.domain);
    assert_int_equal(all.allocs_minor, 2);
    wn_alloc_custom(all.of.domain, &ops, 8, most + 1);
    wn_poll(all.of.domain);
    assert_int_equal(all.allocs_minor, 2);
    assert_int_equal(all.allocs_major, 2);
  }
  wn_gc_full_major(all.of.domain);
  assert_int_equal(all.deallocs_minor, 2);
  assert_int_equal(all.deallocs_major, 2);
  tracked_check(&all);
  tracked_close(&all);
}

static void a_block_that_dies_young_is_freed_at_the_minor_collection(void **state) { /* M21, M68 */
  struct tracked all;
  (void)state;
  tracked_open(&all, 1);
  allocate(all.of.domain, 100, 3);
  wn_poll(all.of.domain);
  assert_int_equal(all.deallocs_minor, 0);
  wn_gc_minor(all.of.domain);
  assert_int_equal(all.deallocs_minor, 100);
  assert_int_equal(all.promotes, 0);
  tracked_check(&all);
  tracked_close(&all);
}

static void a_block_that_lives_is_promoted_and_freed_when_it_is_unreachable(void **state) {
  /* M11, M21, M68, M72 */
  struct tracked all;
  (void)state;
  tracked_open(&all, 1);
  {
    WN_SCOPE(all.of.domain);
    make_list(all.of.domain, 100, 3);
    wn_gc_full_major(all.of.domain);
    assert_int_equal(all.promotes, 100);
    assert_int_equal(all.deallocs_major, 0);
  }
  wn_gc_full_major(all.of.domain);
  assert_int_equal(all.deallocs_major, 100);
  tracked_check(&all);
  tracked_close(&all);
}

static void being_tracked_keeps_no_block_alive(void **state) { /* M67 */
  struct tracked all;
  (void)state;
  tracked_open(&all, 1);
  allocate(all.of.domain, 1000, 10);
  wn_gc_full_major(all.of.domain);
  assert_int_equal(read_stat(all.of.domain).live_blocks, 0);
  tracked_check(&all);
  tracked_close(&all);
}

static wn_global *kept;

static void keep(wn_domain *domain, wn_ref value, void *context) {
  (void)context;
  if (!kept) kept = wn_global_new(domain, value);
}

static void a_block_that_a_finaliser_revives_is_not_freed(void **state) { /* M69 */
  struct tracked all;
  (void)state;
  tracked_open(&all, 1);
  kept = NULL;
  {
    WN_SCOPE(all.of.domain);
    assert_int_equal(wn_gc_finalise(all.of.domain, keep, NULL, block_of(all.of.domain, 5)), WN_OK);
  }
  wn_gc_full_major(all.of.domain);
  assert_non_null(kept);
  assert_int_equal(all.deallocs_minor + all.deallocs_major, 0);
  wn_gc_full_major(all.of.domain);
  assert_int_equal(all.deallocs_major, 0);
  wn_global_free(all.of.domain, kept);
  wn_gc_full_major(all.of.domain);
  assert_int_equal(all.deallocs_major, 1);
  tracked_check(&all);
  tracked_close(&all);
}

/* The number of samples is binomial: five deviations are one run in two million, and the seed is
 * always the same. */
static void words_are_sampled_at_the_rate(void **state) { /* M1, M5 */
  static const double rates[] = {0.5, 0.1, 0.01, 0.001};
  (void)state;
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
    struct tracked all;
    tracked_open(&all, rates[i]);
    double before = wn_gc_allocated_bytes(all.of.domain) / 8, words;
    for (int round = 0; round < 100; round++) {
      allocate(all.of.domain, 1000, 2);
      allocate(all.of.domain, 100, 100);
      allocate(all.of.domain, 2, 1000);
    }
    wn_poll(all.of.domain);
    words = wn_gc_allocated_bytes(all.of.domain) / 8 - before;
    assert_true(fabs((double)all.samples - words * rates[i]) < 5 * sqrt(words * rates[i] * (1 - rates[i])));
    tracked_check(&all);
    tracked_close(&all);
  }
}

static void rate_zero_calls_nothing(void **state) { /* M6 */
  struct tracked all;
  (void)state;
  tracked_open(&all, 0);
  allocate(all.of.domain, 100000, 10);
  allocate(all.of.domain, 10, 10000);
  wn_gc_full_major(all.of.domain);
  assert_int_equal(all.samples, 0);
  assert_true(wn_memprof_is_sampling(all.of.domain));
  tracked_check(&all);
  tracked_close(&all);
}

/* Minor heaps of every size, so that samples and the ends of pieces and of minor heaps fall
 * together in all ways. */
static void samples_and_ends_of_minor_heaps_may_fall_together(void **state) { /* M4 */
  (void)state;
  for (size_t words = 512; words < 600; words += 8) {
    struct tracked all;
    tracked_open(&all, 1);
    assert_int_equal(wn_gc_set_domain_minor_heap(all.of.domain, (long)words), WN_OK);
    for (size_t size = 1; size <= WN_MAX_YOUNG_WORDS; size += 3) allocate(all.of.domain, 5, size);
    wn_gc_minor(all.of.domain);
    assert_int_equal(all.samples, all.trials);
    assert_int_equal(all.allocs_minor, 5 * ((WN_MAX_YOUNG_WORDS + 2) / 3));
    assert_int_equal(all.deallocs_minor, all.allocs_minor);
    tracked_check(&all);
    tracked_close(&all);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_word_of_a_young_block_is_tried_at_rate_one),
      cmocka_unit_test(a_large_block_is_born_major),
      cmocka_unit_test(blocks_of_a_group_are_told_one_by_one),
      cmocka_unit_test(memory_outside_stands_trial_beside_its_block),
      cmocka_unit_test(growth_outside_is_sampled_and_dies_with_its_block),
      cmocka_unit_test(memory_outside_of_a_block_that_is_born_old_is_old),
      cmocka_unit_test(a_block_that_dies_young_is_freed_at_the_minor_collection),
      cmocka_unit_test(a_block_that_lives_is_promoted_and_freed_when_it_is_unreachable),
      cmocka_unit_test(being_tracked_keeps_no_block_alive),
      cmocka_unit_test(a_block_that_a_finaliser_revives_is_not_freed),
      cmocka_unit_test(words_are_sampled_at_the_rate),
      cmocka_unit_test(rate_zero_calls_nothing),
      cmocka_unit_test(samples_and_ends_of_minor_heaps_may_fall_together),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
