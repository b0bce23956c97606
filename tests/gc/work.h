/* A domain that allocates, collects and blocks for a while, for tests of what is told meanwhile. */
#ifndef TESTS_GC_WORK_H
#define TESTS_GC_WORK_H

#include "gc/blocks.h"

#include <stdatomic.h>

struct work {
  _Atomic(int) left; /* domains that have not done their work */
};

static void work(wn_domain *domain, void *argument) {
  struct work *of = argument;
  WN_SCOPE(domain);
  wn_ref list = make_list(domain, 200, 20);
  for (int i = 0; i < 300; i++) {
    WN_SCOPE(domain);
    wn_assign(list, make_list(domain, 200, 20));
    if (i % 50 == 0) {
      wn_blocking_begin(domain);
      wn_blocking_end(domain);
    }
  }
  atomic_fetch_sub(&of->left, 1);
}

#endif
/* SPDX-License-Identifier: MIT */
