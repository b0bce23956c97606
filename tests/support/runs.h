/* How many runs a statistical test makes. Its seeds are fixed and its figures the same in each
 * build, so under sanitizers, which look at memory alone, and in the tiny build the variable
 * TEST_ONE_RUN_IN asks for fewer. */
#ifndef TESTS_SUPPORT_RUNS_H
#define TESTS_SUPPORT_RUNS_H

#include <stdlib.h>

static inline int runs_of(int all) {
  const char *one_in = getenv("TEST_ONE_RUN_IN");
  int fewer = one_in ? all / atoi(one_in) : all;
  return fewer > 0 ? fewer : 1;
}

#endif
/* SPDX-License-Identifier: MIT */
