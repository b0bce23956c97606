/* Lists of pairs in the raw tier, built as compiled code would, and summed. */
#ifndef BENCH_HEAP_LISTS_H
#define BENCH_HEAP_LISTS_H

#include "keep.h"

/* In the one place where something else is called. */
static wn_value cell_slow(wn_domain *d, wn_value head, wn_value tail) {
  WN_SCOPE(d);
  wn_ref kept = wn_root(d, tail);
  wn_value *fields = wn_bump_slow(d, 2, 0);
  return keep_fill(fields, head, *kept.slot);
}

/* Counts in tagged integers, as compiled code would. The inner loop calls nothing, so it has the
 * young pointer in a variable of its own, of which gcc makes better code than of a register that is
 * set apart. */
static wn_value build(wn_domain *d, intptr_t n, intptr_t seed) {
  const size_t bytes = 3 * sizeof(wn_value);
  const wn_value one = wn_int(1) - wn_int(0), last = wn_int(seed);
  wn_value list = wn_int(0);
  for (wn_value head = wn_int(seed + n);; head -= one) {
    char *at = wn_context(d)->young_ptr;
#pragma GCC unroll 4
    for (; head != last; head -= one) {
      if (__builtin_expect(!wn_above_limit(wn_context(d), at - bytes), 0)) break;
      at -= bytes;
      *(wn_value *)at = WN_HEADER(2, 0);
      list = keep_fill((wn_value *)at + 1, head, list);
    }
    wn_context(d)->young_ptr = at;
    if (head == last) return list;
    list = cell_slow(d, head, list);
  }
}

static inline intptr_t sum(wn_value list) {
  intptr_t total = 0;
  for (; !wn_is_int(list); list = ((const wn_value *)list)[1])
    total += wn_to_int(((const wn_value *)list)[0]);
  return total;
}

#endif
/* SPDX-License-Identifier: MIT */
