/* The remembered set: the addresses of fields of old blocks, and of global roots, that may have
 * young values.
 *
 * Each domain has one: its running thread fills it, and a minor collection empties it. A field is
 * added when a young value replaces an old one, so most fields are added once.
 *
 * ALL. If the set cannot grow, `all` is set: the next minor collection scans the whole major heap
 * instead. */
#ifndef GC_DOMAINS_REMEMBERED_H
#define GC_DOMAINS_REMEMBERED_H

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
