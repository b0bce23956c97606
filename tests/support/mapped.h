/* The address space of this process, for tests that limit it (RLIMIT_AS). */
#ifndef TESTS_SUPPORT_MAPPED_H
#define TESTS_SUPPORT_MAPPED_H

#include "support/test.h"

#include <stdio.h>
#include <unistd.h>

static inline size_t mapped_bytes(void) {
  unsigned long pages = 0;
  FILE *file = fopen("/proc/self/statm", "re");
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%lu", &pages), 1);
  fclose(file);
  return pages * (size_t)sysconf(_SC_PAGESIZE);
}

#endif
/* SPDX-License-Identifier: MIT */
