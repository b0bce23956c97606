/* Which chunks a history has taken over: ranges that follow each other are joined, and those that
 * do not are passed over, so that a look for a chunk is short whatever a file has. */
#include "support/test.h"

#include "trace/history.h"

static struct replaced replaced;

static void add(uint64_t first, uint64_t last) {
  assert_true(replaced_add(&replaced, &(struct trace_replaces){.first = first, .last = last}));
}

static int clear(void **state) {
  (void)state;
  replaced_destroy(&replaced);
  replaced = (struct replaced){0};
  return 0;
}

static void ranges_that_touch_are_joined(void **state) {
  (void)state;
  assert_int_equal(replaced_end(&replaced), 0);
  assert_false(replaced_has(&replaced, 0));
  add(0, 0);
  add(0, 2);
  add(3, 5);
  add(4, 5);
  add(5, 9);
  assert_int_equal(replaced.count, 1);
  add(11, 11);
  add(20, 30);
  assert_int_equal(replaced.count, 3);
  for (uint64_t chunk = 0; chunk < 40; chunk++)
    assert_int_equal(replaced_has(&replaced, chunk),
                     chunk <= 9 || chunk == 11 || (chunk >= 20 && chunk <= 30));
  assert_int_equal(replaced_end(&replaced), 31);
}

static void ranges_out_of_order_are_passed_over(void **state) {
  (void)state;
  add(10, 19);
  add(0, 30);
  add(9, 9);
  add(15, 14);
  add(15, 17);
  assert_int_equal(replaced.count, 1);
  assert_true(!replaced_has(&replaced, 9) && !replaced_has(&replaced, 20));
  add(12, UINT64_MAX);
  add(UINT64_MAX, UINT64_MAX);
  assert_int_equal(replaced.count, 1);
  assert_true(replaced_has(&replaced, UINT64_MAX) && !replaced_has(&replaced, 9));
}

static void many_ranges_are_found(void **state) {
  (void)state;
  enum { RANGES = 200000 };
  for (uint64_t i = 0; i < RANGES; i++) add(3 * i, 3 * i + 1);
  assert_int_equal(replaced.count, RANGES);
  for (uint64_t chunk = 0; chunk < 3 * RANGES; chunk++)
    assert_int_equal(replaced_has(&replaced, chunk), chunk % 3 < 2);
  assert_false(replaced_has(&replaced, 3 * RANGES));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(ranges_that_touch_are_joined, clear),
                                     cmocka_unit_test_teardown(ranges_out_of_order_are_passed_over, clear),
                                     cmocka_unit_test_teardown(many_ranges_are_found, clear)};
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
