/* The hook walk_roots forgets one of the language's roots.
 * a stale value */
#include "wrong.h"

static wn_value stack[2];

static void walk(wn_domain *domain, wn_visit *visit, void *visitor, void *context) {
  (void)domain, (void)context;
  visit(visitor, &stack[0]);
  if (IS_RIGHT) visit(visitor, &stack[1]);
}

static int run(wn_domain *d) {
  WN_SCOPE(d);
  stack[0] = wn_value_of(box(d, 1));
  stack[1] = wn_value_of(box(d, 2));
  box(d, 3);
  return wn_to_int(wn_field(wn_root(d, stack[1]), 0)) != 2;
}

int main(void) {
  wn_heap *heap;
  wn_domain *domain;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.hooks.walk_roots = walk;
  stack[0] = stack[1] = wn_int(0);
  must(wn_heap_open(&options, &heap));
  must(wn_domain_attach(heap, &domain));
  int wrong = run(domain);
  stack[0] = stack[1] = wn_int(0);
  return end(heap, domain) + wrong;
}
/* SPDX-License-Identifier: MIT */
