/* An update of the array of lists in the raw tier. */
#ifndef BENCH_HEAP_SLOTS_UPDATE_H
#define BENCH_HEAP_SLOTS_UPDATE_H

#include "keep.h"

/* The keys are integers, so an allocation makes only lists stale. */
static wn_value take(wn_domain *d, int n, wn_value list) {
  const wn_value *cell = (const wn_value *)list;
  if (!n || wn_is_int(list)) return wn_int(0);
  wn_value key = cell[0];
  return keep_pair(d, key, take(d, n - 1, cell[1]));
}

static void update(wn_domain *d, wn_ref lists, size_t slot, intptr_t key) {
  keep_enter(d);
  wn_value list = keep_pair(d, wn_int(key), take(d, 3, wn_field(lists, slot)));
  keep_leave(d);
  wn_store(d, *lists.slot, slot, list);
}

#endif
/* SPDX-License-Identifier: MIT */
