/* A wrong program that is one function, `run`, in a heap of its own. */
#ifndef TESTS_GC_WRONG_RUN_H
#define TESTS_GC_WRONG_RUN_H

#include "wrong.h"

/* Returns 0, unless what it computed is wrong. */
static int run(wn_domain *domain);

int main(void) {
  wn_heap *heap;
  wn_domain *domain = begin(&heap);
  int wrong = run(domain);
  return end(heap, domain) + wrong;
}

#endif
/* SPDX-License-Identifier: MIT */
