/* A raw value is kept over wn_pin of another block.
 * a stale value */
#include "wrong.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref pinned = box(d, 1), block = box(d, 2);
  wn_value value = wn_value_of(block);
  must(wn_pin(d, pinned));
  if (IS_RIGHT) value = wn_value_of(block);
  block = wn_root(d, value);
  must(wn_unpin(d, pinned));
  return wn_to_int(wn_field(block, 0)) != 2;
}

int main(void) {
  wn_heap *heap;
  wn_domain *domain = begin(&heap);
  int wrong = run(domain);
  return end(heap, domain) + wrong;
}
/* SPDX-License-Identifier: MIT */
