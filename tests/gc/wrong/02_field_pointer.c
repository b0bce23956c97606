/* A pointer to a field is kept over an allocation.
 * a field pointer was kept */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref block = box(d, 1);
  wn_value *field = (wn_value *)wn_value_of(block);
  box(d, 2);
  if (IS_RIGHT) field = (wn_value *)wn_value_of(block);
  *field = wn_int(3); /* here */
  box(d, 4);
  return wn_to_int(wn_field(block, 0)) != 3;
}
/* SPDX-License-Identifier: MIT */
