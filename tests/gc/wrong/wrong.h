/* What each wrong program begins with. Each is right with -DRIGHT; without, it has the mistake that
 * its first line names, and must be stopped with the line that the second names. */
#ifndef TESTS_GC_WRONG_H
#define TESTS_GC_WRONG_H

#include <stdio.h>
#include <stdlib.h>
#include <winnow/gc.h>

#ifdef RIGHT
enum { IS_RIGHT = 1 };
#else
enum { IS_RIGHT = 0 };
#endif

/* What a careful program does with a status. */
static inline void must(wn_status status) {
  if (!status) return;
  fprintf(stderr, "program: %s\n", wn_last_error());
  abort();
}

static inline wn_domain *begin(wn_heap **heap) {
  wn_domain *domain;
  must(wn_heap_open(NULL, heap));
  must(wn_domain_attach(*heap, &domain));
  return domain;
}

static inline int end(wn_heap *heap, wn_domain *domain) {
  must(wn_gc_verify(domain, stderr));
  must(wn_domain_detach(domain));
  must(wn_heap_close(heap));
  return 0;
}

static inline wn_ref number(wn_domain *domain, intptr_t n) { return wn_root(domain, wn_int(n)); }

static inline wn_ref box(wn_domain *domain, intptr_t n) {
  wn_ref block = wn_alloc(domain, 1, 3);
  wn_set_int(domain, block, 0, n);
  return block;
}

#endif
/* SPDX-License-Identifier: MIT */
