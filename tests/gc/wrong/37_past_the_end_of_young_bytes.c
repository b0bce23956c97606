/* Bytes behind the end of a young block are written.
 * at its line */
#include "wrong.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref raw = wn_alloc_bytes(d, IS_RIGHT ? 24 : 16);
  char *bytes = wn_bytes(raw);
  bytes[16] = 1; /* here */
  return bytes[0];
}

int main(void) {
  wn_heap *heap;
  wn_domain *domain = begin(&heap);
  int wrong = run(domain);
  return end(heap, domain) + wrong;
}
/* SPDX-License-Identifier: MIT */
