/* Raw values are collected in an array of C.
 * a stale value */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  enum { COUNT = 5 };
  wn_value values[COUNT];
  wn_ref handles[COUNT];
  for (int i = 0; i < COUNT; i++) {
    handles[i] = box(d, i);
    values[i] = wn_value_of(handles[i]);
  }
  wn_ref list = wn_alloc(d, COUNT, 0);
  for (size_t i = 0; i < COUNT; i++) {
    WN_SCOPE(d);
    wn_set(d, list, i, IS_RIGHT ? handles[i] : wn_root(d, values[i]));
  }
  return wn_to_int(wn_field(wn_get(d, list, 4), 0)) != 4;
}
/* SPDX-License-Identifier: MIT */
