/* A file for a trace. */
#ifndef TESTS_CONFORMANCE_TRACE_FILE_H
#define TESTS_CONFORMANCE_TRACE_FILE_H

#include "support/test.h"

#include <stdlib.h>
#include <unistd.h>

struct file {
  char path[64];
};

static inline struct file new_file(void) {
  struct file file = {"/tmp/winnow-test-XXXXXX"};
  int descriptor = mkstemp(file.path);
  assert_true(descriptor >= 0);
  close(descriptor);
  return file;
}

#endif
/* SPDX-License-Identifier: MIT */
