/* Paragraphs. */
#include "support/test.h"

#include "cli/text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char told[] =
    "It held 72.5 MB (57–88 MB; 95 % range) at the peak, after 1.5 s of 2.53 min, 57–59 % of "
    "which (2,000 B or 3 kB) had lived 10 ms, 3 steps and 12 hours.";

static char *paragraph(int columns) {
  char *text = NULL, width[16];
  size_t size;
  FILE *out = open_memstream(&text, &size);
  assert_non_null(out);
  snprintf(width, sizeof width, "%d", columns);
  setenv("COLUMNS", width, 1);
  text_paragraph(out, told, 2);
  fclose(out);
  return text;
}

static void no_line_begins_with_a_unit(void **state) {
  (void)state;
  static const char *const units[] = {"%", "B", "kB", "MB", "s", "ms", "min"};
  for (int columns = 40; columns <= 160; columns++) {
    char *text = paragraph(columns), *rest = text, again[sizeof told + 8] = "";
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
      assert_true(text_columns(line) <= (size_t)text_width());
      assert_memory_equal(line, "  ", 2);
      size_t length = strcspn(line + 2, " ),;.");
      for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        assert_false(strlen(units[i]) == length && !strncmp(line + 2, units[i], length));
      if (*again) strcat(again, " ");
      strcat(again, line + 2);
    }
    assert_string_equal(again, told);
    free(text);
  }
}

/* What looks like a unit in part only is a word. */
static void words_behind_numbers_may_begin_a_line(void **state) {
  (void)state;
  bool steps = false, hours = false;
  for (int columns = 40; columns <= 160; columns++) {
    char *text = paragraph(columns);
    steps |= strstr(text, "\n  steps") != NULL;
    hours |= strstr(text, "\n  hours") != NULL;
    free(text);
  }
  assert_true(steps && hours);
}

/* Exact numbers have no range; what is a digit's width has one. */
static void shares_of_exact_numbers_have_no_range(void **state) {
  (void)state;
  char text[32];
  const struct estimate exact = {.estimate = 0.65, .low = 0.65, .high = nextafter(0.65, 1), .samples = 5};
  const struct estimate near = {.estimate = 0.982, .low = 0.978, .high = 0.984, .samples = 500};
  assert_string_equal(text_share_range(text, &exact), "");
  assert_string_equal(text_share_range(text, &near), "");
}

/* What a text prints, and the columns that it says it takes. */
static void assert_printed(const char *text, const char *expected) {
  char *printed = NULL;
  size_t size;
  FILE *out = open_memstream(&printed, &size);
  assert_non_null(out);
  text_plain(out, text, strlen(text));
  fclose(out);
  assert_string_equal(printed, expected);
  assert_int_equal(text_columns(text), text_columns(expected));
  free(printed);
}

static void no_text_disturbs_a_terminal(void **state) {
  (void)state;
  assert_printed("plain größe…", "plain größe…");
  assert_printed("\x1b[31m\a\r\n\x7f", "?[31m????");
  assert_printed("C1: \xc2\x9b"
                 "31m",
                 "C1: ?31m");
  assert_printed("not UTF-8: \xff\x80\xc3", "not UTF-8: ???");
  assert_printed("cut \xe2\x80", "cut ??");
  assert_printed("overlong \xc0\xaf\xe0\x80\xaf", "overlong ?????");
  assert_printed("surrogate \xed\xa0\x80", "surrogate ???");
  assert_printed("beyond \xf4\x90\x80\x80\xf5", "beyond ?????");
  assert_printed("to the left \xe2\x80\xae, of no width \xe2\x80\x8b\xef\xbb\xbf",
                 "to the left ?, of no width ??");
  assert_int_equal(text_that_fits("gr\xc3\xb6\xc3\x9f"
                                  "e",
                                  7, 3),
                   4);
  assert_int_equal(text_that_fits("\x80\x80\x80\x80", 4, 3), 3);
}

static void words_wider_than_a_line_are_broken(void **state) {
  (void)state;
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  assert_non_null(out);
  setenv("COLUMNS", "40", 1);
  text_paragraph(out, "One 23456789012345678901234567890123456789012345678901234567890 word.", 2);
  fclose(out);
  assert_string_equal(text,
                      "  One\n  23456789012345678901234567890123456789\n  012345678901234567890 word.\n");
  free(text);
}

static void an_entry_stands_behind_its_name(void **state) {
  (void)state;
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  assert_non_null(out);
  setenv("COLUMNS", "40", 1);
  text_entry(out, "command", "sh 'two  blanks'  'and three   blanks' of  a  line", 12);
  text_entry(out, "none", "", 12);
  fclose(out);
  assert_string_equal(text, "command     sh 'two  blanks'  'and three\n"
                            "            blanks' of  a  line\n"
                            "none        \n");
  free(text);
}

static void an_end_of_a_change_that_rounds_to_0_keeps_its_sign(void **state) {
  (void)state;
  static const struct {
    double low, high;
    const char *text;
  } cases[] = {{-3200000, 1800000, "-3.20 to +1.80 MB"},
               {1.7e6, 2.8e6, "+1.70 to +2.80 MB"},
               {-2.5e6, 30, "-2.50 to +0 MB"},
               {-30, 2.5e6, "-0 to +2.50 MB"},
               {-0.2, 310, "-0 to +310 B"},
               {0, 1234, "0 to +1.23 kB"},
               {-100, -10, "-100 to -10 B"},
               {5, 5, "exact"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[64];
    struct estimate change = {.low = cases[i].low, .high = cases[i].high};
    assert_string_equal(text_change_range(text, &change), cases[i].text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_line_begins_with_a_unit),
      cmocka_unit_test(shares_of_exact_numbers_have_no_range),
      cmocka_unit_test(words_behind_numbers_may_begin_a_line),
      cmocka_unit_test(no_text_disturbs_a_terminal),
      cmocka_unit_test(words_wider_than_a_line_are_broken),
      cmocka_unit_test(an_entry_stands_behind_its_name),
      cmocka_unit_test(an_end_of_a_change_that_rounds_to_0_keeps_its_sign),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
