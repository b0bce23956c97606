/* What each fuzzer has: without -runs or -max_total_time it stops after 200,000 runs. */
#ifndef TESTS_FUZZ_BOUND_H
#define TESTS_FUZZ_BOUND_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* A bound for those who start it by hand. */
int LLVMFuzzerInitialize(int *argc, char ***argv) {
  static char bound[] = "-runs=200000";
  for (int i = 1; i < *argc; i++)
    if (!strncmp((*argv)[i], "-runs", 5) || !strncmp((*argv)[i], "-max_total_time", 15)) return 0;
  char **longer = calloc((size_t)*argc + 2, sizeof *longer);
  if (!longer) return 0;
  memcpy(longer, *argv, (size_t)*argc * sizeof *longer);
  longer[(*argc)++] = bound;
  *argv = longer;
  return 0;
}

#endif
/* SPDX-License-Identifier: MIT */
