/* Opens a heap and says whether the system calls this program secure (it has more rights than who
 * started it), and what space_overhead is. secure.bash runs it. */
#include <stdio.h>
#include <sys/auxv.h>
#include <unistd.h>
#include <winnow/gc.h>

int main(void) {
  wn_heap *heap;
  wn_domain *domain;
  wn_gc_control control;
  if (wn_heap_open(NULL, &heap) || wn_domain_attach(heap, &domain) || wn_gc_get(domain, &control))
    return puts(wn_last_error()), 1;
  printf("secure %d, space_overhead %ld\n", getauxval(AT_SECURE) != 0, control.space_overhead);
  if (wn_domain_detach(domain) || wn_heap_close(heap)) return puts(wn_last_error()), 1;
  fflush(stdout);
  _exit(0); /* what a sanitizer does at the end may not be allowed here */
}
/* SPDX-License-Identifier: MIT */
