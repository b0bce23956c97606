/* Pins: blocks that compactions do not move. */
#include "gc/compacting.h"

#include "base/check.h"

static void a_pinned_block_stays_and_lives_until_its_last_unpin(void **state) { /* G28b */
  (void)state;
  struct journal of;
  open_moving(&of);
  struct entry entry = {&of, 1};
  for (size_t words = 1; words <= 1000; words += 999) {
    wn_value pinned;
    of.count = 0;
    {
      WN_SCOPE(of.domain);
      wn_ref block = wn_alloc(of.domain, words, 1), other = wn_alloc(of.domain, words, 1);
      wn_set_int(of.domain, block, 0, 9);
      register_last(&of, &entry, block);
      for (int i = 0; i < 2; i++) assert_int_equal(wn_pin(of.domain, block), WN_OK);
      pinned = wn_value_of(block);
      wn_value moves = wn_value_of(other);
      for (int i = 0; i < 3; i++) compact_heap(of.domain);
      assert_int_equal(wn_value_of(block), pinned);
      assert_int_not_equal(wn_value_of(other), moves);
    }
    {
      WN_SCOPE(of.domain);
      compact_heap(of.domain);
      wn_ref block = wn_root(of.domain, pinned);
      assert_int_equal(number_of(block), 9);
      assert_int_equal(wn_unpin(of.domain, block), WN_OK);
    }
    compact_heap(of.domain);
    assert_int_equal(of.count, 0);
    {
      WN_SCOPE(of.domain);
      wn_ref block = wn_root(of.domain, pinned);
      assert_int_equal(number_of(block), 9);
      assert_int_equal(wn_unpin(of.domain, block), WN_OK);
      assert_int_equal(wn_unpin(of.domain, block), WN_EINVAL);
      compact_heap(of.domain);
      assert_int_not_equal(wn_value_of(block), pinned);
    }
    compact_heap(of.domain);
    ASSERT_JOURNAL(&of, 1);
  }
  journal_close(&of);
}

static void many_pins_are_found_again(void **state) { /* G28b */
  (void)state;
  enum { BLOCKS = 1000 };
  struct journal of;
  open_moving(&of);
  {
    WN_SCOPE(of.domain);
    wn_ref array = wn_alloc(of.domain, BLOCKS, 0);
    wn_value *addresses = test_calloc(BLOCKS, sizeof *addresses);
    for (size_t i = 0; i < BLOCKS; i++) {
      WN_SCOPE(of.domain);
      wn_set(of.domain, array, i, block_of(of.domain, (intptr_t)i));
    }
    assert_int_equal(wn_gc_minor(of.domain), WN_OK);
    for (size_t round = 0; round < 3; round++) {
      for (size_t i = round; i < BLOCKS; i += 3) {
        WN_SCOPE(of.domain);
        assert_int_equal(wn_pin(of.domain, wn_get(of.domain, array, i)), WN_OK);
        addresses[i] = wn_field(array, i);
      }
      compact_heap(of.domain);
      for (size_t i = 0; i < BLOCKS; i++) {
        WN_SCOPE(of.domain);
        wn_ref block = wn_get(of.domain, array, i);
        assert_int_equal(number_of(block), i);
        if (i % 3 != round) continue;
        assert_int_equal(wn_value_of(block), addresses[i]);
        assert_int_equal(wn_unpin(of.domain, block), WN_OK);
      }
    }
    test_free(addresses);
  }
  journal_close(&of);
}

static void only_blocks_can_be_pinned(void **state) { /* G28b */
  (void)state;
  struct journal of;
  open_moving(&of);
  {
    WN_SCOPE(of.domain);
    wn_ref number = wn_root(of.domain, wn_int(1)), block = block_of(of.domain, 1);
    assert_int_equal(wn_pin(of.domain, number), WN_EINVAL);
    assert_int_equal(wn_unpin(of.domain, block), WN_EINVAL);
    assert_string_equal(wn_last_error(), "unpin: it is not pinned");
  }
  journal_close(&of);
}

/* A pinned block in each of many chunks, small and medium ones. */
static void pins_begin_no_compactions_that_gain_nothing(void **state) { /* G29 */
  (void)state;
  enum { CYCLES = 8 };
  struct journal of;
  wn_heap_options options = without_helpers();
  options.parameters.max_overhead = 50;
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    wn_ref array = make_mixed(of.domain, TINY ? 5000 : 20000);
    assert_int_equal(wn_gc_minor(of.domain), WN_OK);
    for (size_t i = 0; i < wn_words(wn_value_of(array)); i++) {
      WN_SCOPE(of.domain);
      if (i % 192 == 0) assert_int_equal(wn_pin(of.domain, wn_get(of.domain, array, i)), WN_OK);
      if (i % 192 == 1) assert_int_equal(wn_pin(of.domain, wn_get(of.domain, array, i)), WN_OK);
      if (i % 192 > 1) wn_set_int(of.domain, array, i, 0);
    }
    for (int i = 0; i < 4; i++) assert_int_equal(wn_gc_major(of.domain), WN_OK);
    long before = quick_stat(of.domain).compactions;
    for (int i = 0; i < CYCLES; i++) assert_int_equal(wn_gc_major(of.domain), WN_OK);
    assert_int_equal(quick_stat(of.domain).compactions, before);
    compact_heap(of.domain);
  }
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_pinned_block_stays_and_lives_until_its_last_unpin),
      cmocka_unit_test(many_pins_are_found_again),
      cmocka_unit_test(only_blocks_can_be_pinned),
      one_thread_test(pins_begin_no_compactions_that_gain_nothing),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
