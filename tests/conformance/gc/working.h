/* Domains at work on one heap, beside which a test forks, and what its children do. */
#ifndef TESTS_CONFORMANCE_GC_WORKING_H
#define TESTS_CONFORMANCE_GC_WORKING_H

#include "gc/forks.h"
#include "gc/journal.h"

#include "base/check.h"
#include <sched.h>

enum { WORKERS = 3, LIST = 50, SHARED = 64 };

struct world {
  wn_heap *heap;
  wn_global *shared; /* a block of SHARED fields, which all domains replace */
  _Atomic(bool) over;
  _Atomic(int) working;
};

static inline void step(wn_domain *domain, struct world *world, uint64_t *random, wn_ref list) {
  WN_SCOPE(domain);
  *random = *random * 6364136223846793005u + 1442695040888963407u;
  unsigned draw = (unsigned)(*random >> 33);
  wn_ref shared = wn_global_get(domain, world->shared);
  wn_assign(list, make_list(domain, 1 + draw % LIST, 1 + draw % 7));
  wn_set(domain, shared, draw % SHARED, list);
  if (draw % 16 == 0) wn_alloc(domain, 3000 + draw % 5000, 0);
  if (draw % 64 == 0) wn_gc_minor(domain);
  if (draw % 512 == 0) wn_gc_full_major(domain);
  if (draw % 128 == 1) {
    wn_blocking_begin(domain);
    sched_yield();
    wn_blocking_end(domain);
  }
}

static inline void work(wn_domain *domain, void *argument) {
  struct world *world = argument;
  WN_SCOPE(domain);
  uint64_t random = wn_domain_number(domain);
  wn_ref list = wn_root(domain, wn_int(0));
  atomic_fetch_add(&world->working, 1);
  while (!atomic_load(&world->over)) step(domain, world, &random, list);
}

static inline void allocate_in_child(wn_domain *domain, void *argument) {
  WN_SCOPE(domain);
  *(long *)argument = length_of(domain, make_list(domain, 1000, 3));
}

/* The last child of a test that ends its heap has only the domain that forked. */
static inline void end_heap(wn_domain *domain, wn_heap *heap) {
  IN_CHILD(wn_domain_detach(domain) == WN_OK);
  IN_CHILD(wn_heap_close(heap) == WN_OK);
}

static inline void collect_and_verify(wn_domain *domain, void *argument) {
  struct world *world = argument;
  {
    WN_SCOPE(domain);
    uint64_t random = 5;
    long length = 0;
    wn_join *join;
    wn_ref list = make_list(domain, LIST, 2);
    wn_ref shared = wn_global_get(domain, world->shared);
    IN_CHILD(wn_gc_verify(domain, stderr) == WN_OK);
    for (int i = 0; i < 20; i++) step(domain, world, &random, list);
    if (CHILD_HAS_THREADS) {
      IN_CHILD(wn_domain_spawn(domain, allocate_in_child, &length, &join) == WN_OK);
      IN_CHILD(wn_join_wait(domain, join) == WN_OK && length == 1000);
    }
    IN_CHILD(wn_gc_full_major(domain) == WN_OK);
    IN_CHILD(wn_gc_compact(domain) == WN_OK);
    IN_CHILD(wn_gc_verify(domain, stderr) == WN_OK);
    for (size_t i = 0; i < SHARED; i++) IN_CHILD(length_of(domain, wn_get(domain, shared, i)) <= LIST);
  }
  end_heap(domain, world->heap);
}

static inline void open_world(struct journal *of, struct world *world, const char *text) {
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.text = text;
  options.helper_threads = CHILD_HAS_THREADS ? 2 : 0;
  journal_open(of, &options);
  WN_SCOPE(of->domain);
  *world = (struct world){.heap = of->heap};
  world->shared = wn_global_new(of->domain, wn_alloc(of->domain, SHARED, 0));
}

#endif
/* SPDX-License-Identifier: MIT */
