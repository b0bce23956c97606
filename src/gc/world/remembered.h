/* The remembered set: addresses of fields of old blocks, and of global roots, that may hold young blocks.
 *
 * One buffer a domain, which its thread fills and a minor collection empties. A field is added when a young block is
 * stored over something else, so mostly once. If the buffer cannot grow, ALL is set: the next minor collection looks
 * through the whole major heap instead. */
#ifndef GC_WORLD_REMEMBERED_H
#define GC_WORLD_REMEMBERED_H

#include "gc/store/layout.h"

struct remembered {
  wn_value **at, **end, **begin;
  bool all;
};

void remembered_grow(struct remembered *set, wn_value *field);
void remembered_destroy(struct remembered *set);

static inline void remembered_add(struct remembered *set, wn_value *field) {
  if (__builtin_expect(set->at == set->end, 0))
    remembered_grow(set, field);
  else
    *set->at++ = field;
}

static inline void remembered_clear(struct remembered *set) {
  set->at = set->begin;
  set->all = false;
}

#endif
/* SPDX-License-Identifier: MIT */
