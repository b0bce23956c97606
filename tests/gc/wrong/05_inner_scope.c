/* A handle is used after its scope ended.
 * after its scope ended */
#include "wrong.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref block;
  {
    wn_scope scope = wn_scope_enter(d);
    block = box(d, 1);
    if (IS_RIGHT) block = wn_escape(&scope, block);
    wn_scope_leave(&scope);
  }
  return wn_to_int(wn_field(block, 0)) != 1;
}

int main(void) {
  wn_heap *heap;
  wn_domain *domain = begin(&heap);
  int wrong = run(domain);
  return end(heap, domain) + wrong;
}
/* SPDX-License-Identifier: MIT */
