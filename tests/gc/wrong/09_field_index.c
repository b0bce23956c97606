/* A field is read behind the last.
 * fewer fields */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref pair = wn_pair(d, 0, number(d, 1), number(d, 2));
  return wn_to_int(wn_field(pair, IS_RIGHT ? 1 : 2)) != 2;
}
/* SPDX-License-Identifier: MIT */
