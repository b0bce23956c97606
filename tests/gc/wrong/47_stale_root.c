/* A value that is stale already becomes a root of the language.
 * verify: a root of the hook walk_roots */
#include "wrong.h"

static wn_value root;

static void walk(wn_domain *domain, wn_visit *visit, void *visitor, void *context) {
  (void)domain, (void)context;
  visit(visitor, &root);
}

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref block = box(d, 1);
  wn_value value = wn_value_of(block);
  box(d, 2);
  root = IS_RIGHT ? wn_value_of(block) : value;
  box(d, 3);
  return wn_to_int(wn_field(wn_root(d, root), 0)) != 1;
}

int main(void) {
  wn_heap *heap;
  wn_domain *domain;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.hooks.walk_roots = walk;
  root = wn_int(0);
  must(wn_heap_open(&options, &heap));
  must(wn_domain_attach(heap, &domain));
  int wrong = run(domain);
  root = wn_int(0);
  return end(heap, domain) + wrong;
}
/* SPDX-License-Identifier: MIT */
