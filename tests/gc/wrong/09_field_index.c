/* A field is read behind the last.
 * fewer fields */
#include "wrong.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref pair = wn_pair(d, 0, number(d, 1), number(d, 2));
  return wn_to_int(wn_field(pair, IS_RIGHT ? 1 : 2)) != 2;
}

int main(void) {
  wn_heap *heap;
  wn_domain *domain = begin(&heap);
  int wrong = run(domain);
  return end(heap, domain) + wrong;
}
/* SPDX-License-Identifier: MIT */
