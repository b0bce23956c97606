/* A heap of one domain with a small minor heap and no helpers: every step of a cycle is the test's. */
#ifndef GC_SMALL_HEAP_H
#define GC_SMALL_HEAP_H

#include "gc/blocks.h"
#include "gc/domains/domain.h"

enum { MINOR = 8192 };

static inline wn_domain *open_heap_of(long minor_heap_size) {
  wn_heap *heap;
  wn_domain *domain;
  wn_heap_options options = without_helpers();
  options.parameters.minor_heap_size = minor_heap_size;
  assert_int_equal(wn_heap_open(&options, &heap), WN_OK);
  assert_int_equal(wn_domain_attach(heap, &domain), WN_OK);
  return domain;
}

static inline wn_domain *open_heap(void) { return open_heap_of(MINOR); }

static inline void close_heap(wn_domain *domain) {
  wn_heap *heap = domain->heap;
  assert_int_equal(wn_gc_verify(domain, stderr), WN_OK);
  assert_int_equal(wn_domain_detach(domain), WN_OK);
  assert_int_equal(wn_heap_close(heap), WN_OK);
}

#endif
/* SPDX-License-Identifier: MIT */
