/* A raw value is kept over a poll, in a domain that is alone.
 * a stale value */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref block = box(d, 1);
  wn_value value = wn_value_of(block);
  wn_poll(d);
  if (IS_RIGHT) value = wn_value_of(block);
  return wn_to_int(wn_field(wn_root(d, value), 0)) != 1;
}
/* SPDX-License-Identifier: MIT */
