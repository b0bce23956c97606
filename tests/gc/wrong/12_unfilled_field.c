/* A field of the raw tier is not filled.
 * (tag 0, 2 words, of domain 0) holds 0xfeedfeedfeedfee8 */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_value *fields = wn_bump(d, 2, 0);
  fields[0] = wn_int(1);
  if (IS_RIGHT) fields[1] = wn_int(2);
  wn_ref block = wn_root(d, (wn_value)fields);
  box(d, 3);
  return wn_to_int(wn_field(block, 0)) != 1;
}
/* SPDX-License-Identifier: MIT */
