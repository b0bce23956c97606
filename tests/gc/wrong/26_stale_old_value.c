/* A raw value of an old block is kept over an allocation.
 * a stale value: its block */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref block = box(d, 1);
  must(wn_gc_minor(d)); /* the block is old now */
  wn_value value = wn_value_of(block);
  box(d, 2);
  if (IS_RIGHT) value = wn_value_of(block);
  return wn_to_int(wn_field(wn_root(d, value), 0)) != 1;
}
/* SPDX-License-Identifier: MIT */
