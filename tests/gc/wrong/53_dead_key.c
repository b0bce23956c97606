/* A key of an ephemeron is a handle of a scope that has ended.
 * a handle is used after its scope ended */
#include "wrong_run.h"

#include <winnow/weak.h>

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref ephemeron = wn_ephemeron_new(d, 1), key;
  {
    WN_SCOPE(d);
    key = box(d, 1);
    if (IS_RIGHT) must(wn_ephemeron_set_key(d, ephemeron, 0, key));
  }
  if (!IS_RIGHT) must(wn_ephemeron_set_key(d, ephemeron, 0, key));
  return 0;
}
/* SPDX-License-Identifier: MIT */
