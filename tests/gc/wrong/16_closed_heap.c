/* A domain is used after its heap was closed.
 * or the domain has ended */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_heap *other;
  wn_domain *domain;
  must(wn_heap_open(NULL, &other));
  must(wn_domain_attach(other, &domain));
  if (IS_RIGHT) wn_alloc(domain, 1, 0);
  must(wn_domain_detach(domain));
  must(wn_heap_close(other));
  if (!IS_RIGHT) wn_alloc(domain, 1, 0);
  return 0;
}
/* SPDX-License-Identifier: MIT */
