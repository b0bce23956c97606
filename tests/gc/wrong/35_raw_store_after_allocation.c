/* A value is stored raw into the fields of a block after another allocation.
 * a field pointer was kept */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref block = wn_alloc(d, 1, 0);
  wn_value *fields = (wn_value *)wn_value_of(block);
  wn_ref other = box(d, 2);
  if (IS_RIGHT)
    wn_set(d, block, 0, other);
  else
    fields[0] = wn_value_of(other); /* here */
  box(d, 3);
  return wn_to_int(wn_field(wn_get(d, block, 0), 0)) != 2;
}
/* SPDX-License-Identifier: MIT */
