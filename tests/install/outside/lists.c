/* A program that was not built with Winnow, and keeps its lists on the collected heap. */
#include <winnow/gc.h>

int main(void) {
  wn_heap *heap;
  wn_domain *d;
  if (wn_heap_open(NULL, &heap) || wn_domain_attach(heap, &d)) return puts(wn_last_error()), 1;
  {
    WN_SCOPE(d);
    wn_ref list = wn_root(d, wn_int(0));
    for (int i = 0; i < 100000; i++) {
      WN_SCOPE(d);
      wn_assign(list, wn_pair(d, 0, wn_root(d, wn_int(i)), list));
    }
    if (wn_gc_full_major(d) || wn_to_int(wn_field(list, 0)) != 99999) return 1;
  }
  return wn_domain_detach(d) || wn_heap_close(heap);
}
/* SPDX-License-Identifier: MIT */
