/* Allocation as a compiler would generate it: a register is set apart for young_ptr, and raw values
 * stay in registers unless the minor heap is full.
 *
 * Only the slow path collects, so only there must a value that is still needed be a root for a
 * moment. Between keep_enter and keep_leave nothing but keep_pair may be called; the heap's own
 * functions look for young_ptr where it was. */
#ifndef BENCH_HEAP_KEEP_H
#define BENCH_HEAP_KEEP_H

#include "heap_program.h"

#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)
register char *keep_young __asm__("r15"); /* which functions called from here leave as it is */
#else
static char *keep_young;
#endif

static inline void keep_enter(wn_domain *d) { keep_young = wn_context(d)->young_ptr; }
static inline void keep_leave(wn_domain *d) { wn_context(d)->young_ptr = keep_young; }

__attribute__((noinline, cold)) static wn_value *keep_slow(wn_domain *d, size_t words, wn_value kept[2]) {
  WN_SCOPE(d);
  keep_leave(d);
  wn_ref first = wn_root(d, kept[0]), second = wn_root(d, kept[1]);
  wn_value *fields = wn_bump_slow(d, words, 0);
  kept[0] = *first.slot;
  kept[1] = *second.slot;
  keep_enter(d);
  return fields;
}

/* As wn_bump with tag 0; `*first` and `*second` are up to date afterwards. */
static inline wn_value *keep_bump(wn_domain *d, size_t words, wn_value *first, wn_value *second) {
  char *at = keep_young - (words + 1) * sizeof(wn_value);
  if (__builtin_expect(!wn_above_limit(wn_context(d), at), 0)) {
    wn_value kept[2] = {*first, *second}, *fields = keep_slow(d, words, kept);
    *first = kept[0];
    *second = kept[1];
    return fields;
  }
  keep_young = at;
  *(wn_value *)at = WN_HEADER(words, 0);
  return (wn_value *)at + 1;
}

/* Atomic stores are plain ones here, but gcc does not join them: a joined store takes its halves
 * from memory, which costs raw_churn a fifth of its time. */
static inline wn_value keep_fill(wn_value *fields, wn_value first, wn_value second) {
  __atomic_store_n(&fields[0], first, __ATOMIC_RELAXED);
  __atomic_store_n(&fields[1], second, __ATOMIC_RELAXED);
  return (wn_value)fields;
}

/* A pair of two raw values. */
static inline wn_value keep_pair(wn_domain *d, wn_value first, wn_value second) {
  wn_value *fields = keep_bump(d, 2, &first, &second);
  return keep_fill(fields, first, second);
}

#endif
/* SPDX-License-Identifier: MIT */
