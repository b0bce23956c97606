/* Mixed blocks, of values and then bytes: the collector follows the values alone. */
#include "gc/compacting.h"

#include "gc/collect/major.h"
#include "gc/domains/domain.h"
#include <stdlib.h>
#include <string.h>
#include <winnow/marshal.h>
#include <winnow/weak.h>

/* The bytes look like addresses of blocks, and lead nowhere. */
#define LIKE_AN_ADDRESS ((wn_value)0x7000000010)

static void fill_bytes(wn_ref block, size_t words) {
  wn_value *bytes = wn_bytes(block);
  for (size_t i = 0; i < words; i++) bytes[i] = LIKE_AN_ADDRESS + 8 * i;
}

static void check_bytes(wn_ref block, size_t words) {
  const wn_value *bytes = wn_bytes(block);
  for (size_t i = 0; i < words; i++) assert_true(bytes[i] == LIKE_AN_ADDRESS + 8 * i);
}

static wn_ref make(wn_domain *domain, size_t values, size_t words) {
  wn_ref block = wn_alloc_mixed(domain, values, 8 * words);
  assert_int_equal(wn_tag(wn_value_of(block)), WN_TAG_MIXED);
  assert_int_equal(wn_words(wn_value_of(block)), 1 + values + words);
  assert_int_equal(wn_scanned_words(wn_value_of(block)), 1 + values);
  for (size_t i = 0; i < values; i++) assert_true(wn_field(block, 1 + i) == wn_int(0));
  for (size_t i = 0; i < words; i++) assert_true(((const wn_value *)wn_bytes(block))[i] == 0);
  fill_bytes(block, words);
  return block;
}

static void link(wn_domain *domain, wn_ref block, size_t values) {
  for (size_t i = 1; i <= values; i++) {
    WN_SCOPE(domain);
    wn_set(domain, block, i, block_of(domain, (intptr_t)i));
  }
}

static void check(wn_domain *domain, wn_ref block, size_t values, size_t words) {
  assert_int_equal(wn_gc_verify(domain, stderr), WN_OK);
  for (size_t i = 1; i <= values; i++) {
    WN_SCOPE(domain);
    assert_int_equal(number_of(wn_get(domain, block, i)), i);
  }
  check_bytes(block, words);
}

static void use(wn_domain *domain, size_t values, size_t words) {
  WN_SCOPE(domain);
  wn_ref block = make(domain, values, words);
  link(domain, block, values);
  check(domain, block, values, words);
  assert_int_equal(wn_gc_minor(domain), WN_OK);
  check(domain, block, values, words);
  link(domain, block, values); /* young values in an old block */
  assert_int_equal(wn_gc_minor(domain), WN_OK);
  check(domain, block, values, words);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(wn_gc_full_major(domain), WN_OK);
    check(domain, block, values, words);
    compact_heap(domain);
    check(domain, block, values, words);
  }
}

static void values_are_followed_and_bytes_are_not(void **state) {
  static const size_t sizes[] = {0, 1, 3, 200, 300, 5000, 140000};
  enum { SIZES = sizeof sizes / sizeof *sizes };
  static struct journal of;
  (void)state;
  open_moving(&of);
  for (size_t i = 0; i < SIZES; i++)
    for (size_t j = 0; j < SIZES; j++)
      if (sizes[i] + sizes[j] < 200000) use(of.domain, sizes[i] > 5000 ? 5000 : sizes[i], sizes[j]);
  journal_close(&of);
}

/* What the bytes of a block alone lead to is dead. */
static void an_address_among_the_bytes_keeps_nothing(void **state) {
  static struct journal of;
  (void)state;
  open_moving(&of);
  WN_SCOPE(of.domain);
  wn_ref block = make(of.domain, 3, 1);
  link(of.domain, block, 3);
  {
    WN_SCOPE(of.domain);
    *(wn_value *)wn_bytes(block) = wn_value_of(make_list(of.domain, 10, 3));
  }
  assert_int_equal(wn_gc_minor(of.domain), WN_OK);
  assert_int_equal(read_stat(of.domain).live_blocks, 4);
  {
    WN_SCOPE(of.domain);
    *(wn_value *)wn_bytes(block) = wn_value_of(make_list(of.domain, 10, 3));
    assert_int_equal(wn_gc_minor(of.domain), WN_OK);
    *(wn_value *)wn_bytes(block) = wn_value_of(make_list(of.domain, 10, 3));
  }
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  assert_int_equal(read_stat(of.domain).live_blocks, 4);
  compact_heap(of.domain);
  journal_close(&of);
}

static void the_raw_tier_makes_mixed_blocks_of_any_size(void **state) {
  static struct journal of;
  (void)state;
  open_moving(&of);
  for (size_t words = 5; words < 200000; words *= 6) {
    WN_SCOPE(of.domain);
    assert_int_equal(wn_gc_minor(of.domain), WN_OK);
    wn_ref value = block_of(of.domain, 1);
    wn_value *fields = wn_bump(of.domain, words, WN_TAG_MIXED);
    fields[0] = wn_int(1);
    fields[1] = wn_value_of(value);
    for (size_t i = 2; i < words; i++) fields[i] = 0;
    wn_ref block = wn_root(of.domain, (wn_value)fields);
    fill_bytes(block, words - 2);
    wn_assign_int(value, 0);
    assert_int_equal(wn_gc_minor(of.domain), WN_OK);
    check(of.domain, block, 1, words - 2);
    assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
    check(of.domain, block, 1, words - 2);
  }
  journal_close(&of);
}

/* The block is marked before its values: the overwritten one was there when the cycle began. */
static void what_leaves_a_mixed_block_while_marking_goes_on_is_kept(void **state) {
  static struct journal of;
  (void)state;
  open_moving(&of);
  WN_SCOPE(of.domain);
  wn_ref block = make(of.domain, 3, 10), kept = wn_root(of.domain, wn_int(0));
  link(of.domain, block, 3);
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  major_collect(of.domain, COLLECT_MINOR | COLLECT_CYCLE, STOP_REQUEST);
  assert_int_equal(heap_phase(of.domain->heap), PHASE_MARK);
  wn_assign_field(kept, block, 2);
  wn_set_int(of.domain, block, 2, 0);
  major_finish_cycle(of.domain, STOP_REQUEST);
  assert_int_equal(number_of(kept), 2);
  assert_int_equal(wn_gc_verify(of.domain, stderr), WN_OK);
  journal_close(&of);
}

static void only_the_values_can_be_filled_and_copied(void **state) {
  static struct journal of;
  (void)state;
  open_moving(&of);
  WN_SCOPE(of.domain);
  wn_ref mixed = make(of.domain, 3, 5), plain = wn_alloc(of.domain, 9, 0);
  wn_value block = wn_value_of(mixed), other = wn_value_of(plain);
  assert_int_equal(wn_fill(of.domain, block, 0, 1, wn_int(7)), WN_EINVAL);
  assert_int_equal(wn_fill(of.domain, block, 1, 4, wn_int(7)), WN_EINVAL);
  assert_int_equal(wn_fill(of.domain, block, 1, 3, wn_int(7)), WN_OK);
  assert_int_equal(wn_blit(of.domain, other, 0, block, 0, 2), WN_EINVAL);
  assert_int_equal(wn_blit(of.domain, block, 2, other, 0, 3), WN_EINVAL);
  assert_int_equal(wn_blit(of.domain, block, 1, other, 0, 3), WN_OK);
  assert_int_equal(wn_to_int(wn_field(plain, 2)), 7);
  assert_int_equal(wn_scanned_words(block), 4);
  check_bytes(mixed, 5);
  journal_close(&of);
}

static void a_weak_array_copies_mixed_blocks(void **state) {
  static struct journal of;
  (void)state;
  open_moving(&of);
  WN_SCOPE(of.domain);
  wn_ref block = make(of.domain, 3, 5), weak = wn_weak_new(of.domain, 1);
  link(of.domain, block, 3);
  assert_int_equal(wn_weak_set(of.domain, weak, 0, block), WN_OK);
  wn_ref copy = wn_weak_get_copy(of.domain, weak, 0);
  assert_true(wn_value_of(copy) != wn_value_of(block));
  assert_int_equal(wn_words(wn_value_of(copy)), 9);
  check(of.domain, copy, 3, 5);
  journal_close(&of);
}

static void what_cannot_be_is_refused(void **state) {
  static struct journal of;
  void *bytes;
  size_t size;
  (void)state;
  open_moving(&of);
  WN_SCOPE(of.domain);
  assert_true(wn_is_null(wn_alloc_mixed(of.domain, WN_MAX_WORDS, 0)));
  assert_string_equal(wn_last_error(), "alloc mixed: more than WN_MAX_WORDS words");
  assert_true(wn_is_null(wn_alloc_mixed(of.domain, SIZE_MAX, 8)));
  assert_true(wn_is_null(wn_alloc_mixed(of.domain, 1, SIZE_MAX)));
  assert_true(wn_is_null(wn_alloc_mixed(of.domain, 2, 8 * (WN_MAX_WORDS - 2))));
  assert_true(wn_is_null(wn_alloc(of.domain, 3, WN_TAG_MIXED)));
  wn_ref block = make(of.domain, 1, 1);
  assert_int_equal(wn_marshal_write(of.domain, block, 0, &bytes, &size), WN_EINVAL);
  assert_non_null(strstr(wn_last_error(), "closure"));
  journal_close(&of);
}

static void verification_finds_a_boundary_beyond_the_block(void **state) {
  static struct journal of;
  (void)state;
  open_moving(&of);
  WN_SCOPE(of.domain);
  for (int old = 0; old < 2; old++) {
    wn_ref block = make(of.domain, 1, 1);
    if (old) assert_int_equal(wn_gc_minor(of.domain), WN_OK);
    ((wn_value *)wn_value_of(block))[0] = wn_int(5);
    assert_int_equal(wn_gc_verify(of.domain, NULL), WN_EFORMAT);
    ((wn_value *)wn_value_of(block))[0] = wn_int(1);
    assert_int_equal(wn_gc_verify(of.domain, stderr), WN_OK);
  }
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_followed_and_bytes_are_not),
      cmocka_unit_test(an_address_among_the_bytes_keeps_nothing),
      cmocka_unit_test(the_raw_tier_makes_mixed_blocks_of_any_size),
      cmocka_unit_test(what_leaves_a_mixed_block_while_marking_goes_on_is_kept),
      cmocka_unit_test(only_the_values_can_be_filled_and_copied),
      cmocka_unit_test(a_weak_array_copies_mixed_blocks),
      cmocka_unit_test(what_cannot_be_is_refused),
      cmocka_unit_test(verification_finds_a_boundary_beyond_the_block),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
