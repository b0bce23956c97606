/* A scope is left open in a loop.
 * all 1048576 slots */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref sum = number(d, 0);
  for (int i = 0; i < 1200000; i++) {
    wn_scope scope = wn_scope_enter(d);
    wn_assign_int(sum, wn_to_int(wn_value_of(sum)) + i % 2);
    wn_ref last = number(d, i);
    if (i == 1199999) wn_pair(d, 0, sum, last);
    if (IS_RIGHT) wn_scope_leave(&scope);
  }
  return wn_to_int(wn_value_of(sum)) != 600000;
}
/* SPDX-License-Identifier: MIT */
