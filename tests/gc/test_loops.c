/* What handles can do without new handles: for loops. */
#include "gc/journal.h"

enum { LENGTH = 100000 };

static intptr_t sum(wn_ref list) {
  intptr_t total = 0;
  for (wn_value rest = wn_value_of(list); !wn_is_int(rest); rest = wn_field_of(rest, 1))
    total += wn_to_int(wn_field_of(rest, 0));
  return total;
}

static void a_list_grows_at_its_front_and_needs_one_handle(void **state) {
  struct journal of;
  (void)state;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    wn_ref list = wn_root(of.domain, wn_int(0));
    const wn_value *top = wn_context(of.domain)->top;
    for (intptr_t i = 1; i <= LENGTH; i++) assert_true(wn_push_int(of.domain, list, 5, i));
    assert_ptr_equal(wn_context(of.domain)->top, top);
    assert_int_equal(wn_tag(wn_value_of(list)), 5);
    assert_int_equal(wn_to_int(wn_field(list, 0)), LENGTH);
    assert_int_equal(sum(list), (intptr_t)LENGTH * (LENGTH + 1) / 2);
  }
  journal_close(&of);
}

static void a_pair_may_be_assigned_to_one_of_its_parts(void **state) {
  struct journal of;
  (void)state;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    wn_ref list = wn_root(of.domain, wn_int(0)), number = wn_root(of.domain, wn_int(0));
    for (intptr_t i = 1; i <= LENGTH; i++) {
      wn_assign_int(number, i);
      assert_true(wn_assign_pair(of.domain, list, 2, number, list));
    }
    assert_int_equal(wn_tag(wn_value_of(list)), 2);
    assert_int_equal(sum(list), (intptr_t)LENGTH * (LENGTH + 1) / 2);
    assert_true(wn_assign_pair(of.domain, number, 0, list, list));
    assert_int_equal(wn_field(number, 0), wn_value_of(list));
  }
  journal_close(&of);
}

static void a_handle_walks_along_a_list_while_the_walk_allocates(void **state) {
  struct journal of;
  (void)state;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    wn_ref list = wn_root(of.domain, wn_int(0)), twice = wn_root(of.domain, wn_int(0));
    for (intptr_t i = 1; i <= LENGTH; i++) wn_push_int(of.domain, list, 0, i);
    for (wn_ref rest = wn_root(of.domain, wn_value_of(list)); !wn_is_int(wn_value_of(rest));
         wn_assign_field(rest, rest, 1))
      assert_true(wn_push_int(of.domain, twice, 0, 2 * wn_to_int(wn_field(rest, 0))));
    assert_int_equal(sum(twice), (intptr_t)LENGTH * (LENGTH + 1));
  }
  journal_close(&of);
}

static void where_memory_is_exhausted_the_handle_keeps_what_it_held(void **state) {
  wn_heap_options options = WN_HEAP_DEFAULTS;
  struct journal of;
  (void)state;
  check_handles(&options);
  options.text = "every=1,fail_at=1"; /* each allocation takes the slow path; the first request fails */
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    wn_ref list = wn_root(of.domain, wn_int(7));
    assert_false(wn_push_int(of.domain, list, 0, 1));
    assert_int_equal(wn_to_int(wn_value_of(list)), 7);
    assert_true(wn_push_int(of.domain, list, 0, 1));
  }
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_list_grows_at_its_front_and_needs_one_handle),
      cmocka_unit_test(a_pair_may_be_assigned_to_one_of_its_parts),
      cmocka_unit_test(a_handle_walks_along_a_list_while_the_walk_allocates),
      cmocka_unit_test(where_memory_is_exhausted_the_handle_keeps_what_it_held),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
