/* A test program that is given a pattern runs the cases whose names contain it, and no others:
 *   build/dev/tests/trace/test_trace_codec varint
 * `*` and `?` in it stand for anything. If no case matches, all are listed, and the program fails.
 * A number is no pattern; some programs take one for themselves. */
#include "support/test.h"

#include <fnmatch.h>
#include <stdio.h>

int __real__cmocka_run_group_tests(const char *group, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction setup, CMFixtureFunction teardown);
int __wrap__cmocka_run_group_tests(const char *group, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction setup, CMFixtureFunction teardown);

static char pattern[256]; /* empty: all cases run */

/* The C library gives the program's arguments to constructors, too. */
__attribute__((constructor)) static void keep_pattern(int count, char **arguments) {
  if (count < 2 || (arguments[1][0] >= '0' && arguments[1][0] <= '9')) return;
  snprintf(pattern, sizeof pattern, "*%s*", arguments[1]);
}

static bool any_matches(const struct CMUnitTest *tests, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!fnmatch(pattern, tests[i].name, 0)) return true;
  return false;
}

/* The linker puts this in the place of the function that cmocka_run_group_tests calls. */
int __wrap__cmocka_run_group_tests(const char *group, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction setup, CMFixtureFunction teardown) {
  if (*pattern && !any_matches(tests, count)) {
    fprintf(stderr, "no case matches '%s'; there are:\n", pattern);
    for (size_t i = 0; i < count; i++) fprintf(stderr, "  %s\n", tests[i].name);
    return 1;
  }
  if (*pattern) cmocka_set_test_filter(pattern);
  return __real__cmocka_run_group_tests(group, tests, count, setup, teardown);
}
/* SPDX-License-Identifier: MIT */
