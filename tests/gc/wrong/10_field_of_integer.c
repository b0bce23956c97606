/* A field of an integer is read.
 * is an integer and has no fields */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref list = number(d, 0);
  if (IS_RIGHT) list = wn_pair(d, 0, number(d, 1), list);
  return wn_to_int(wn_field(list, 0)) != 1;
}
/* SPDX-License-Identifier: MIT */
