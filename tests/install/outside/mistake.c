/* An outside program that keeps a value over an allocation. The heap with its checks finds that; or,
 * if the program has an argument, AddressSanitizer does. */
#include <stdio.h>
#include <winnow/heap.h>

int main(int count, char **arguments) {
  wn_heap *heap;
  wn_domain *d;
  if (wn_heap_open(NULL, &heap) || wn_domain_attach(heap, &d)) return puts(wn_last_error()), 1;
  {
    WN_SCOPE(d);
    wn_value kept = wn_value_of(wn_alloc(d, 1, 0));
    wn_alloc(d, 1, 0);
    (void)arguments;
    if (count > 1) return *(const wn_value *)kept != wn_int(0); /* here */
    wn_root(d, kept);
  }
  wn_domain_detach(d);
  wn_heap_close(heap);
  return 0;
}
/* SPDX-License-Identifier: MIT */
