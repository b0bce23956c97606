/* Heaps that are compacted, for tests of what that does to blocks. */
#ifndef TESTS_GC_COMPACTING_H
#define TESTS_GC_COMPACTING_H

#include "gc/journal.h"

/* All blocks move that can, whether memory is gained or not. */
#define MOVES_ALL      "move_all,O=1000000"
#define ONLY_REQUESTED "O=1000000"

static inline void open_with(struct journal *of, const char *text) {
  wn_heap_options options = without_helpers();
  options.text = text;
  journal_open(of, &options);
}

static inline void open_moving(struct journal *of) { open_with(of, MOVES_ALL); }

static inline void compact_heap(wn_domain *domain) {
  long before = quick_stat(domain).compactions;
  assert_int_equal(wn_gc_compact(domain), WN_OK);
  assert_int_equal(quick_stat(domain).compactions, before + 1);
  assert_int_equal(wn_gc_verify(domain, stderr), WN_OK);
}

/* An array of blocks, each with its number in the last field: small ones, and one medium in 64. */
static inline wn_ref make_mixed(wn_domain *domain, size_t count) {
  wn_ref array = wn_alloc(domain, count, 0);
  for (size_t i = 0; i < count; i++) {
    WN_SCOPE(domain);
    size_t words = i % 64 == 0 ? 300 + i % 5000 : 1 + i % 90;
    wn_ref block = wn_alloc(domain, words, 1);
    wn_set_int(domain, block, words - 1, (intptr_t)i);
    wn_set(domain, array, i, block);
  }
  return array;
}

/* One place in five. */
static inline bool is_kept(size_t i) { return (i * UINT64_C(0x9e3779b97f4a7c15) >> 40) % 5 == 0; }

static inline void drop_four_of_five(wn_domain *domain, wn_ref array) {
  for (size_t i = 0; i < wn_words(wn_value_of(array)); i++)
    if (!is_kept(i)) wn_set_int(domain, array, i, 0);
}

/* Checks all blocks of the array, some of which may have been dropped by drop_four_of_five. */
static inline void check_mixed(wn_domain *domain, wn_ref array) {
  for (size_t i = 0; i < wn_words(wn_value_of(array)); i++) {
    WN_SCOPE(domain);
    if (!is_kept(i) && wn_is_int(wn_field(array, i))) continue;
    wn_ref block = wn_get(domain, array, i);
    assert_int_equal(wn_to_int(wn_field(block, wn_words(wn_value_of(block)) - 1)), i);
  }
}

#endif
/* SPDX-License-Identifier: MIT */
