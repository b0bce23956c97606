/* Allocation that keeps raw values fresh: they stay in registers unless the minor heap is full, as in generated code.
 *
 * Only the slow path collects, so only there must a value that is still needed be a root for a moment. */
#ifndef BENCH_HEAP_KEEP_H
#define BENCH_HEAP_KEEP_H

#include "heap_program.h"

__attribute__((noinline, cold)) static wn_value *keep_slow(wn_domain *d, size_t words, wn_value kept[2]) {
  WN_SCOPE(d);
  wn_ref first = wn_root(d, kept[0]), second = wn_root(d, kept[1]);
  wn_value *fields = wn_bump_slow(d, words, 0);
  kept[0] = *first.slot;
  kept[1] = *second.slot;
  return fields;
}

/* As wn_bump with tag 0; `*first` and `*second` are up to date afterwards. */
static inline wn_value *keep_bump(wn_domain *d, size_t words, wn_value *first, wn_value *second) {
  struct wn_domain_face *face = wn_face(d);
  char *at = face->young_ptr - (words + 1) * sizeof(wn_value);
  if (__builtin_expect(!wn_above_limit(face, at), 0)) {
    wn_value kept[2] = {*first, *second}, *fields = keep_slow(d, words, kept);
    *first = kept[0];
    *second = kept[1];
    return fields;
  }
  face->young_ptr = at;
  *(wn_value *)at = WN_HEADER(words, 0);
  return (wn_value *)at + 1;
}

/* A pair of two raw values. Atomic stores are plain ones here, but gcc does not join them: a joined store takes its halves
 * from memory, which costs raw_churn a fifth of its time. */
static inline wn_value keep_pair(wn_domain *d, wn_value first, wn_value second) {
  wn_value *fields = keep_bump(d, 2, &first, &second);
  __atomic_store_n(&fields[0], first, __ATOMIC_RELAXED);
  __atomic_store_n(&fields[1], second, __ATOMIC_RELAXED);
  return (wn_value)fields;
}

#endif
/* SPDX-License-Identifier: MIT */
