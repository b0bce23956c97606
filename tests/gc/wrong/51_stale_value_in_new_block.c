/* A new block is filled with a value from before it, and read before the next collection.
 * wn_field: a stale value */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref block = box(d, 1);
  wn_value value = wn_value_of(block);
  wn_value *pair = wn_bump(d, 2, 0);
  pair[0] = IS_RIGHT ? wn_value_of(block) : value;
  pair[1] = wn_int(2);
  wn_ref read = wn_root(d, (wn_value)pair);
  wn_assign_field(read, read, 0);
  return wn_to_int(wn_field(read, 0)) != 1; /* here */
}
/* SPDX-License-Identifier: MIT */
