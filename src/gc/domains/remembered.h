/* The remembered set. An entry is the address of a field of an old block, or of a global root, where
 * a young value may be; or the address of an old block, with the bit REMEMBERED_BLOCK, in any field
 * of which one may be.
 *
 * Each domain has one: its running thread fills it, and a minor collection empties it. A field is
 * added when a young value replaces an old one, so most fields are added once. A block is added
 * where it is born and the program will fill it without a barrier, and where most of its fields
 * change at once.
 *
 * ALL. If the set cannot grow, `all` is set: the next minor collection scans the whole major heap
 * instead. */
#ifndef GC_DOMAINS_REMEMBERED_H
#define GC_DOMAINS_REMEMBERED_H

#include "gc/store/layout.h"

enum { REMEMBERED_BLOCK = 1 };

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

static inline void remembered_add_block(struct remembered *set, wn_value *fields) {
  remembered_add(set, (wn_value *)((uintptr_t)fields | REMEMBERED_BLOCK));
}
static inline bool remembered_is_block(const wn_value *entry) { return (uintptr_t)entry & REMEMBERED_BLOCK; }
/* The field, or the first field of the block. */
static inline wn_value *remembered_fields(const wn_value *entry) {
  return (wn_value *)((uintptr_t)entry & ~(uintptr_t)REMEMBERED_BLOCK);
}

static inline void remembered_clear(struct remembered *set) {
  set->at = set->begin;
  set->all = false;
}

#endif
/* SPDX-License-Identifier: MIT */
