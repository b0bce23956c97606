/* The settings of a recording, by option and by variable. */
#include "support/test.h"

#include "settings/settings.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void clear_variables(void) {
  for (enum setting i = 0; i < SETTINGS; i++)
    if (setting_rows[i].variable) unsetenv(setting_rows[i].variable);
}

/* Values of each kind; `{0}` ends a list. */
struct values {
  const char *good[6], *wrong[12];
};

static char names[SETTING_NAME_MOST + 2], longest_name[SETTING_NAME_MOST + 1],
    too_long_name[SETTING_NAME_MOST + 2], long_number[SETTING_NUMBER_MOST + 2];

static struct values values_of(const struct setting_row *row) {
  static char most[24], above[24];
  struct values values = {0};
  switch (row->kind) {
  case SETTING_NAMED:
    snprintf(longest_name, sizeof longest_name, "%.*s", (int)row->most, names);
    snprintf(too_long_name, sizeof too_long_name, "%.*s", (int)row->most + 1, names);
    values = (struct values){{"t", "/tmp/a b", longest_name}, {too_long_name}};
    break;
  case SETTING_FRACTION:
    values =
        (struct values){{"0", "1", "1e-4", "0.5", "1e-9"},
                        {"abc", "0,5", "1.5", "-0.1", "1e", " 1", "0x1p-3", "nan", "9e-10", long_number}};
    break;
  case SETTING_SHARE:
    values = (struct values){{"0", "1%", "0.01", "50%", "2.5%"},
                             {"abc", "%", "51%", "1", "-1%", "1%%", "1e0%", "1 %", "nan", long_number}};
    break;
  case SETTING_WHOLE:
    snprintf(most, sizeof most, "%llu", (unsigned long long)row->most);
    values = (struct values){{"0", "1", most}, {"xyz", "-1", "1.5", "1,0", "1e1", " 1", "1 ", long_number}};
    if (row->most < UINT64_MAX) {
      snprintf(above, sizeof above, "%llu", (unsigned long long)row->most + 1);
      values.wrong[8] = above;
    } else {
      values.wrong[8] = "18446744073709551616";
    }
    break;
  case SETTING_SWITCH:
    values = (struct values){{"yes", "no"}, {"Yes", "1", "true", "on", "y", " no", "no "}};
    break;
  case SETTING_SIZE: break; /* the command's */
  case SETTING_SPACE:
    values = (struct values){{"4000000", "4M", "64MB", "64Mi", "1GiB"},
                             {"abc", "M", "-4M", "1.5G", "4 M", "1K", "64Mb", "1GBi", "20000000T"}};
    break;
  }
  return values;
}

static void every_variable_takes_what_its_row_says(void **state) {
  (void)state;
  for (enum setting i = 0; i < SETTINGS; i++) {
    if (!setting_rows[i].variable) continue;
    const struct values values = values_of(&setting_rows[i]);
    for (const char *const *text = values.good; *text; text++) {
      struct settings settings = settings_initial();
      clear_variables();
      setenv("WINNOW_TRACE", "t", 1);
      setenv(setting_rows[i].variable, *text, 1);
      if (settings_read(&settings, getenv) != SETTINGS) fail_msg("%s=%s", setting_rows[i].variable, *text);
      assert_true(settings.of[i].given);
      assert_string_equal(settings.of[i].text, *text);
    }
    for (const char *const *text = values.wrong; *text; text++) {
      struct settings settings = settings_initial();
      char complaint[SETTING_COMPLAINT_BYTES], beginning[64];
      clear_variables();
      setenv("WINNOW_TRACE", "t", 1);
      setenv(setting_rows[i].variable, *text, 1);
      if (settings_read(&settings, getenv) != i) fail_msg("%s=%s", setting_rows[i].variable, *text);
      setting_complain_of_variable(complaint, i, *text);
      snprintf(beginning, sizeof beginning, "%s=%.20s", setting_rows[i].variable, *text);
      if (strncmp(complaint, beginning, strlen(beginning)) != 0 || !strstr(complaint, ": it must be "))
        fail_msg("%s", complaint);
    }
  }
  clear_variables();
}

static void every_option_takes_what_its_row_says(void **state) {
  (void)state;
  for (enum setting i = 0; i < SETTINGS; i++) {
    const struct values values = values_of(&setting_rows[i]);
    struct settings settings = settings_initial();
    for (const char *const *text = values.good; *text; text++) assert_true(setting_set(&settings, i, *text));
    if (setting_rows[i].kind != SETTING_SIZE) assert_false(setting_set(&settings, i, ""));
    for (const char *const *text = values.wrong; *text; text++) {
      struct settings before = settings;
      assert_false(setting_set(&settings, i, *text));
      assert_memory_equal(&before, &settings, sizeof before);
    }
  }
}

static void numbers_have_their_values(void **state) {
  struct settings settings = settings_initial();
  (void)state;
  assert_true(settings.of[SETTING_RATE].fraction == 1e-4);
  assert_int_equal(settings.of[SETTING_DEPTH].whole, 512);
  assert_false(settings.of[SETTING_RATE].given);
  assert_null(settings.of[SETTING_TRACE].text);
  assert_true(setting_set(&settings, SETTING_RATE, "0.25"));
  assert_true(setting_set(&settings, SETTING_DEPTH, "0x20"));
  assert_true(settings.of[SETTING_RATE].fraction == 0.25);
  assert_true(setting_set(&settings, SETTING_MAX_TRACE, "64M"));
  assert_int_equal(settings.of[SETTING_MAX_TRACE].whole, 64000000);
  assert_true(setting_set(&settings, SETTING_MAX_TRACE, "2GiB"));
  assert_int_equal(settings.of[SETTING_MAX_TRACE].whole, UINT64_C(2) << 30);
  assert_int_equal(settings.of[SETTING_DEPTH].whole, 32);
  assert_true(setting_set(&settings, SETTING_BUDGET, "2.5%"));
  assert_true(settings.of[SETTING_BUDGET].fraction == 0.025);
  assert_true(settings_initial().of[SETTING_BUDGET].fraction == 0);
}

static void empty_variables_are_as_if_not_set(void **state) {
  struct settings settings = settings_initial(), initial = settings_initial();
  (void)state;
  for (enum setting i = 0; i < SETTINGS; i++)
    if (setting_rows[i].variable) setenv(setting_rows[i].variable, "", 1);
  assert_int_equal(settings_read(&settings, getenv), SETTINGS);
  assert_memory_equal(&settings, &initial, sizeof settings);
  setenv("WINNOW_TRACE", "t", 1);
  assert_int_equal(settings_read(&settings, getenv), SETTINGS);
  for (enum setting i = SETTING_TRACE + 1; i < SETTINGS; i++) assert_false(settings.of[i].given);
  clear_variables();
}

static void without_a_trace_no_variable_is_wrong(void **state) {
  struct settings settings = settings_initial();
  (void)state;
  clear_variables();
  setenv("WINNOW_RATE", "abc", 1);
  assert_int_equal(settings_read(&settings, getenv), SETTINGS);
  assert_false(settings.of[SETTING_TRACE].given);
  clear_variables();
}

static void the_seed_is_the_given_one_or_a_fresh_one(void **state) {
  struct settings settings = settings_initial();
  (void)state;
  assert_true(settings_seed(&settings) != settings_seed(&settings));
  assert_true(setting_set(&settings, SETTING_SEED, "0"));
  assert_int_equal(settings_seed(&settings), 0);
  assert_true(setting_set(&settings, SETTING_SEED, "18446744073709551615"));
  assert_true(settings_seed(&settings) == UINT64_MAX);
}

static void names_and_letters_are_of_one_setting(void **state) {
  (void)state;
  for (enum setting i = 0; i < SETTINGS; i++) {
    assert_true(setting_rows[i].option || setting_rows[i].variable);
    assert_int_equal(!setting_rows[i].option, !setting_rows[i].letter);
    for (enum setting j = 0; j < i; j++) {
      const struct setting_row *a = &setting_rows[i], *b = &setting_rows[j];
      assert_false(a->letter && a->letter == b->letter);
      assert_false(a->option && b->option && !strcmp(a->option, b->option));
      assert_false(a->variable && b->variable && !strcmp(a->variable, b->variable));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_variable_takes_what_its_row_says),
      cmocka_unit_test(every_option_takes_what_its_row_says),
      cmocka_unit_test(numbers_have_their_values),
      cmocka_unit_test(empty_variables_are_as_if_not_set),
      cmocka_unit_test(without_a_trace_no_variable_is_wrong),
      cmocka_unit_test(the_seed_is_the_given_one_or_a_fresh_one),
      cmocka_unit_test(names_and_letters_are_of_one_setting),
  };
  memset(names, 'n', sizeof names - 1);
  memset(long_number, '0', sizeof long_number - 1);
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
