/* A finaliser ends its domain.
 * detach: called by a callback */
#include "wrong_run.h"

static void finaliser(wn_domain *domain, void *context) {
  *(bool *)context = true;
  if (!IS_RIGHT) must(wn_domain_detach(domain));
}

static int run(wn_domain *d) {
  WN_SCOPE(d);
  bool called = false;
  {
    WN_SCOPE(d);
    must(wn_gc_finalise_last(d, finaliser, &called, box(d, 1)));
  }
  must(wn_gc_minor(d));
  return !called;
}
/* SPDX-License-Identifier: MIT */
