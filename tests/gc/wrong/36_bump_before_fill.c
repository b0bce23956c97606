/* A second block of the raw tier is made before the first one is filled.
 * (tag 0, 1 words, of domain 0) holds 0xfeedfeedfeedfee8 */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_value *first = wn_bump(d, 1, 0);
  if (IS_RIGHT) first[0] = wn_int(1);
  wn_ref block = wn_root(d, (wn_value)first);
  wn_value *second = wn_bump(d, 1, 0);
  second[0] = wn_value_of(block);
  return wn_to_int(wn_field(block, 0)) != 1;
}
/* SPDX-License-Identifier: MIT */
