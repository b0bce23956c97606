/* A finaliser keeps the handle that it got.
 * after its scope ended */
#include "wrong_run.h"

static wn_ref kept;
static wn_global *global;

static void finalise(wn_domain *d, wn_ref value, void *context) {
  (void)context;
  kept = value;
  if (IS_RIGHT) global = wn_global_new(d, value);
}

static int run(wn_domain *d) {
  WN_SCOPE(d);
  {
    WN_SCOPE(d);
    must(wn_gc_finalise(d, finalise, NULL, box(d, 1)));
  }
  must(wn_gc_full_major(d));
  if (IS_RIGHT) kept = wn_global_get(d, global);
  bool wrong = wn_to_int(wn_field(kept, 0)) != 1;
  wn_global_free(d, global);
  return wrong;
}
/* SPDX-License-Identifier: MIT */
