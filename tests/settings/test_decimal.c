/* Numbers as users write them, compared with the C library's in the C locale. */
#include "support/test.h"

#include "base/random.h"
#include "settings/decimal.h"
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void equals_strtod(const char *text) {
  double value = -1;
  if (!decimal_fraction(text, &value)) fail_msg("%s is refused", text);
  if (memcmp(&value, &(double){strtod(text, NULL)}, sizeof value) != 0)
    fail_msg("%s is read as %.17g", text, value);
}

static void fractions_are_the_nearest_doubles(void **state) {
  static const char *const texts[] = {
      "0", "0.0", ".0", "0e5", "1", "1.", "1.000", "01", "10e-1", "0.001e3", "100000e-5", "1e0", "1E-4",
      "1e-4", "0.0001", "0.1", ".1", "0.5", "0.25", "00.25", "0.3", "1e-300", "9.999999999999999e-1",
      "0.99999999999999999999999999999", "0.1000000000000000055511151231257827021181583404541015625",
      /* Half-way between two doubles: to the even one, down and up; and a little more. */
      "0.50000000000000005551115123125782702118158340454101562500",
      "0.50000000000000016653345369377348106354475021362304687500",
      "0.50000000000000005551115123125782702118158340454101562501",
      "0.99999999999999994448884876874217297881841659545898437500",
      "0.000000000000000000000000000000000000000000000000000001", "123456789e-20"};
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) equals_strtod(texts[i]);
}

static void every_double_is_read_back_from_its_17_digits(void **state) {
  struct random random;
  char text[64];
  (void)state;
  random_seed(&random, 1, 2, 3);
  for (int i = 0; i < 20000; i++) {
    uint64_t bits = random_bits(&random);
    double value = ldexp((double)(bits >> 11), -53 - (int)(bits % 60) * (i % 2)), back = -1;
    snprintf(text, sizeof text, "%.17g", value);
    if (!decimal_fraction(text, &back) || back != value) fail_msg("%s is read as %.17g", text, back);
    snprintf(text, sizeof text, "%.*f", 1 + i % 30, value);
    equals_strtod(text);
  }
}

static void what_is_no_fraction_is_refused(void **state) {
  static const char *const texts[] = {"",
                                      ".",
                                      "e5",
                                      "1e",
                                      "1e+",
                                      "abc",
                                      "-0.1",
                                      "+0.1",
                                      " 0.1",
                                      "0.1 ",
                                      "0,5",
                                      "0.1x",
                                      "1.5",
                                      "2",
                                      "1e1",
                                      "1.0001",
                                      "10",
                                      "0x1p-3",
                                      "inf",
                                      "nan",
                                      "1e-301",
                                      "1e-999999999999",
                                      "1e999999999999",
                                      "0.5.5",
                                      "1e5e5",
                                      "1e-4.5",
                                      "½",
                                      "1e-400"};
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    double value = 7;
    if (decimal_fraction(texts[i], &value)) fail_msg("'%s' is read as %g", texts[i], value);
    assert_true(value == 7);
  }
}

static void whole_numbers_are_decimal_or_hexadecimal(void **state) {
  static const struct {
    const char *text;
    uint64_t value;
  } good[] = {{"0", 0},
              {"7", 7},
              {"010", 10},
              {"0x1f", 31},
              {"0XfF", 255},
              {"18446744073709551615", UINT64_MAX},
              {"0xffffffffffffffff", UINT64_MAX}};
  static const char *const wrong[] = {"",
                                      "-1",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "1.0",
                                      "1e3",
                                      "x",
                                      "0x",
                                      "0xg",
                                      "12a",
                                      "18446744073709551616",
                                      "0x10000000000000000"};
  uint64_t value;
  (void)state;
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    assert_true(decimal_whole(good[i].text, &value));
    assert_true(value == good[i].value);
  }
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    value = 7;
    if (decimal_whole(wrong[i], &value)) fail_msg("'%s' is read as %lu", wrong[i], value);
    assert_int_equal(value, 7);
  }
}

/* Makes the locale, since it need not be installed. */
static bool enter_a_locale_with_a_decimal_comma(char folder[64]) {
  char command[256];
  strcpy(folder, "/tmp/winnow-locale-XXXXXX");
  if (!mkdtemp(folder)) return false;
  snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
  if (system(command)) return false;
  setenv("LOCPATH", folder, 1);
  return setlocale(LC_ALL, "de_DE.UTF-8") && !strcmp(localeconv()->decimal_point, ",");
}

static void a_text_means_the_same_where_the_decimal_point_is_a_comma(void **state) {
  char folder[64], command[128];
  double value;
  (void)state;
  bool entered = enter_a_locale_with_a_decimal_comma(folder);
  if (entered) {
    assert_true(strtod("0,5", NULL) == 0.5);
    assert_true(decimal_fraction("0.5", &value) && value == 0.5);
    assert_false(decimal_fraction("0,5", &value));
  }
  setlocale(LC_ALL, "C");
  snprintf(command, sizeof command, "rm -rf %s", folder);
  assert_int_equal(system(command), 0);
  if (!entered) skip(); /* there is no localedef, or no German */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fractions_are_the_nearest_doubles),
      cmocka_unit_test(every_double_is_read_back_from_its_17_digits),
      cmocka_unit_test(what_is_no_fraction_is_refused),
      cmocka_unit_test(whole_numbers_are_decimal_or_hexadecimal),
      cmocka_unit_test(a_text_means_the_same_where_the_decimal_point_is_a_comma),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
