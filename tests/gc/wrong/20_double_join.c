/* A thread is joined twice.
 * was joined already */
#include "wrong.h"

static void body(wn_domain *domain, void *argument) {
  WN_SCOPE(domain);
  box(domain, 1);
  *(bool *)argument = true;
}

static int run(wn_domain *d) {
  WN_SCOPE(d);
  bool ran = false;
  wn_join *join;
  must(wn_thread_spawn(d, body, &ran, &join));
  must(wn_join_wait(d, join));
  if (!IS_RIGHT) must(wn_join_wait(d, join));
  return !ran;
}

int main(void) {
  wn_heap *heap;
  wn_domain *domain = begin(&heap);
  int wrong = run(domain);
  return end(heap, domain) + wrong;
}
/* SPDX-License-Identifier: MIT */
