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
  assert_string_equal(text_share_range(text, &near), "98–98");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_line_begins_with_a_unit),
      cmocka_unit_test(shares_of_exact_numbers_have_no_range),
      cmocka_unit_test(words_behind_numbers_may_begin_a_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
