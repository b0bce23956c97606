/* Limits of winnow diff: which texts are limits, and when a change passes one. */
#include "support/test.h"

#include "cli/limit.h"
#include <string.h>

static struct limit parsed(const char *text) {
  struct limit limit;
  if (limit_parse(text, &limit)) fail_msg("%s: %s", text, wn_last_error());
  return limit;
}

static void limits_are_a_measure_a_relation_and_a_signed_amount(void **state) {
  (void)state;
  struct limit limit = parsed("held > +10M");
  assert_int_equal(limit.measure, MEASURE_HELD);
  assert_true(limit.above && !limit.relative && limit.amount == 1e7);
  limit = parsed("  allocated<-5.5 % ");
  assert_int_equal(limit.measure, MEASURE_ALLOCATED);
  assert_true(!limit.above && limit.relative && limit.amount == -0.055);
  limit = parsed("alive>+4Ki");
  assert_int_equal(limit.measure, MEASURE_ALIVE);
  assert_true(limit.above && limit.amount == 4096);
  assert_true(parsed("churn > +0%").amount == 0);
}

static void other_texts_are_refused_with_what_was_expected(void **state) {
  (void)state;
  static const struct {
    const char *text, *expected;
  } wrong[] = {
      {"", "held, allocated"},          {"helt > +1M", "held, allocated"}, {"held", "> or <"},
      {"held = +1M", "> or <"},         {"held > 10M", "+ or -"},          {"held > +", "bytes or"},
      {"held > +-1M", "bytes or"},      {"held > +1X", "bytes or"},        {"held > +1M more", "bytes or"},
      {"held > +nan%", "bytes or"},     {"held > +inf%", "bytes or"},      {"held > +1%%", "bytes or"},
      {"allocatedx > +1", "held, all"}, {"> +1M", "held, allocated"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    struct limit limit;
    if (limit_parse(wrong[i].text, &limit) != WN_EINVAL) fail_msg("'%s' is taken", wrong[i].text);
    if (!strstr(wn_last_error(), wrong[i].expected)) fail_msg("'%s': %s", wrong[i].text, wn_last_error());
  }
}

static struct change change_by(double before, double after) {
  return (struct change){{.estimate = before}, {.estimate = after}, {.estimate = after - before}};
}

static void only_sure_changes_pass_a_limit(void **state) {
  (void)state;
  struct limit more = parsed("held > +10M"), percent = parsed("held > +5%"), less = parsed("held < -1M");
  struct change grown = change_by(100e6, 111e6), shrunk = change_by(100e6, 98e6),
                little = change_by(100e6, 104e6);
  assert_true(limit_is_passed(&more, &grown, true));
  assert_false(limit_is_passed(&more, &grown, false));
  assert_false(limit_is_passed(&more, &little, true));
  assert_true(limit_is_passed(&percent, &grown, true));
  assert_false(limit_is_passed(&percent, &little, true));
  assert_false(limit_is_passed(&less, &grown, true));
  assert_true(limit_is_passed(&less, &shrunk, true));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(limits_are_a_measure_a_relation_and_a_signed_amount),
      cmocka_unit_test(other_texts_are_refused_with_what_was_expected),
      cmocka_unit_test(only_sure_changes_pass_a_limit),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
