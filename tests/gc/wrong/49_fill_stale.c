/* A stale value is stored by wn_fill.
 * fill: a stale value */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref into = wn_alloc(d, 3, 0), kept = box(d, 1);
  wn_value value = wn_value_of(kept);
  box(d, 2);
  if (IS_RIGHT) value = wn_value_of(kept);
  return wn_fill(d, wn_value_of(into), 0, 3, value) != WN_OK;
}
/* SPDX-License-Identifier: MIT */
