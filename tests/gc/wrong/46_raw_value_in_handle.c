/* A raw value is put into a slot of a handle after another allocation.
 * a thread of domain 0, holds */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref block = box(d, 1), kept = number(d, 0);
  wn_value value = wn_value_of(block);
  box(d, 2);
  *kept.slot = IS_RIGHT ? wn_value_of(block) : value;
  box(d, 3);
  return wn_to_int(wn_field(kept, 0)) != 1;
}
/* SPDX-License-Identifier: MIT */
