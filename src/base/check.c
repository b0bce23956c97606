/* What happens when an assertion fails. */
#include "base/check.h"

#include "base/os.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void check_failed(const char *condition, const char *file, int line) {
  char message[400];
  int length =
      snprintf(message, sizeof message, "winnow: %s:%d: broken invariant: %s\n", file, line, condition);
  if (length > 0)
    os_write_all(2, message, (size_t)length < sizeof message ? (size_t)length : sizeof message - 1);
  abort();
}
/* SPDX-License-Identifier: MIT */
