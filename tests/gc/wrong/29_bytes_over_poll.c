/* The bytes of a young block are written by a pointer that was kept over wn_poll.
 * a field pointer was kept */
#include "wrong.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref raw = wn_alloc_bytes(d, 24);
  char *bytes = wn_bytes(raw);
  wn_poll(d);
  if (IS_RIGHT) bytes = wn_bytes(raw);
  bytes[3] = 1; /* here */
  wn_poll(d);
  return ((char *)wn_bytes(raw))[3] != 1;
}

int main(void) {
  wn_heap *heap;
  wn_domain *domain = begin(&heap);
  int wrong = run(domain);
  return end(heap, domain) + wrong;
}
/* SPDX-License-Identifier: MIT */
