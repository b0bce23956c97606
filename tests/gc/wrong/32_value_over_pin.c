/* A raw value is kept over wn_pin of another block.
 * a stale value */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref pinned = box(d, 1), block = box(d, 2);
  wn_value value = wn_value_of(block);
  must(wn_pin(d, pinned));
  if (IS_RIGHT) value = wn_value_of(block);
  block = wn_root(d, value);
  must(wn_unpin(d, pinned));
  return wn_to_int(wn_field(block, 0)) != 2;
}
/* SPDX-License-Identifier: MIT */
