/* A value is stored raw into the fields of a block after another allocation.
 * a field pointer was kept */
#include "wrong.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref block = wn_alloc(d, 1, 0);
  wn_value *fields = (wn_value *)wn_value_of(block);
  wn_ref other = box(d, 2);
  if (IS_RIGHT)
    wn_set(d, block, 0, other);
  else
    fields[0] = wn_value_of(other); /* here */
  box(d, 3);
  return wn_to_int(wn_field(wn_get(d, block, 0), 0)) != 2;
}

int main(void) {
  wn_heap *heap;
  wn_domain *domain = begin(&heap);
  int wrong = run(domain);
  return end(heap, domain) + wrong;
}
/* SPDX-License-Identifier: MIT */
