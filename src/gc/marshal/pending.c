/* Memory of the stack. */
#include "gc/marshal/pending.h"

#include "base/check.h"
#include <stdlib.h>

enum { FIRST = TINY ? 2 : 64 };

bool pending_grow(struct pending *pending) {
  size_t capacity = pending->capacity ? 2 * pending->capacity : FIRST;
  struct pending_fields *grown = realloc(pending->ranges, capacity * sizeof *grown);
  if (!grown) return false;
  pending->ranges = grown;
  pending->capacity = capacity;
  return true;
}

void pending_destroy(struct pending *pending) { free(pending->ranges); }
/* SPDX-License-Identifier: MIT */
