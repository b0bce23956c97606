/* When a process looks at what is asked, by a clock that is made up. */
#include "support/test.h"

#include "preload/looks.h"

#define MS     cycles_of_us(1000)
#define SECOND cycles_of_us(1000000)

/* Looks as soon as it is due, `step` apart at least, until `end`, and returns how often. *longest:
 * the longest time between two looks. */
static unsigned look_until(struct looks *looks, uint64_t *now, uint64_t end, uint64_t *longest) {
  unsigned count = 0;
  uint64_t last = *now, step = cycles_of_us(100);
  *longest = 0;
  for (; *now < end; *now += step) {
    if (!looks_are_due(looks, *now)) continue;
    *longest = larger(*longest, *now - last);
    last = *now;
    looks_made(looks, *now, false);
    count++;
  }
  return count;
}

static void a_process_that_is_not_asked_looks_five_times_a_second(void **state) {
  struct looks looks = {0};
  uint64_t now = SECOND, longest;
  (void)state;
  look_until(&looks, &now, now + SECOND, &longest);
  unsigned count = look_until(&looks, &now, now + 100 * SECOND, &longest);
  assert_in_range(count, 490, 510);
  assert_true(longest <= 201 * MS);
}

static void the_commands_of_a_script_are_found_within_milliseconds(void **state) {
  struct looks looks = {0};
  uint64_t now = SECOND, longest;
  (void)state;
  look_until(&looks, &now, now + 10 * SECOND, &longest);
  looks_made(&looks, now, true);
  assert_false(looks_are_due(&looks, now + MS));
  assert_true(looks_are_due(&looks, now + 2 * MS));
  look_until(&looks, &now, now + 20 * MS, &longest);
  assert_true(longest <= 6 * MS);
  look_until(&looks, &now, now + 80 * MS, &longest);
  assert_true(longest > 15 * MS && longest <= 26 * MS);
}

static void without_a_clock_each_look_is_due(void **state) {
  struct looks looks = {0};
  (void)state;
  looks_made(&looks, 0, false);
  assert_true(looks_are_due(&looks, 0));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_process_that_is_not_asked_looks_five_times_a_second),
      cmocka_unit_test(the_commands_of_a_script_are_found_within_milliseconds),
      cmocka_unit_test(without_a_clock_each_look_is_due),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
