/* A raw store into a block that has moved.
 * a stale value */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref block = box(d, 1);
  wn_value raw = wn_value_of(block);
  wn_ref other = box(d, 2);
  if (IS_RIGHT) raw = wn_value_of(block);
  wn_store(d, raw, 0, wn_value_of(other));
  return wn_to_int(wn_field(wn_get(d, block, 0), 0)) != 2;
}
/* SPDX-License-Identifier: MIT */
