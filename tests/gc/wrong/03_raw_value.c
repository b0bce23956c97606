/* A raw value is kept over an allocation.
 * a stale value */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref block = box(d, 1);
  wn_value value = wn_value_of(block);
  wn_ref other = box(d, 2);
  if (IS_RIGHT) value = wn_value_of(block);
  wn_ref pair = wn_pair(d, 0, wn_root(d, value), other);
  return wn_to_int(wn_field(wn_get(d, pair, 0), 0)) != 1;
}
/* SPDX-License-Identifier: MIT */
