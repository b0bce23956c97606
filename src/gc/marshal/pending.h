/* The fields that a walk in depth-first order has put off: a stack of ranges. A walk puts off what
 * is left of a block when it goes into a field, and nothing if that was the last one: so lists of
 * any length need no more room than one of their blocks. */
#ifndef GC_MARSHAL_PENDING_H
#define GC_MARSHAL_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <winnow/domain.h>

struct pending_fields {
  wn_value *at;
  size_t count; /* at least 1 */
};

struct pending {
  struct pending_fields *ranges;
  size_t count, capacity;
};

static inline bool pending_is_empty(const struct pending *pending) { return !pending->count; }

/* False if there is no memory. */
bool pending_grow(struct pending *pending);
static inline bool pending_push(struct pending *pending, wn_value *at, size_t count) {
  if (__builtin_expect(pending->count == pending->capacity, 0) && !pending_grow(pending)) return false;
  pending->ranges[pending->count++] = (struct pending_fields){at, count};
  return true;
}

/* There is a range. */
static inline struct pending_fields pending_pop(struct pending *pending) {
  return pending->ranges[--pending->count];
}

void pending_destroy(struct pending *pending);

#endif
/* SPDX-License-Identifier: MIT */
