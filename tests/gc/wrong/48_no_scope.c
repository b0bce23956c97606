/* Handles are made in a loop outside any scope.
 * a handle was made outside any scope*all 1048576 slots*no scope is open */
#include "wrong_run.h"

static int run(wn_domain *d) {
  intptr_t sum = 0;
  for (int i = 0; i < 1200000; i++) {
    wn_scope scope;
    if (IS_RIGHT) scope = wn_scope_enter(d);
    wn_ref one = number(d, i % 2);
    sum += wn_to_int(wn_value_of(one));
    if (i % 100000 == 0) wn_pair(d, 0, one, one);
    if (IS_RIGHT) wn_scope_leave(&scope);
  }
  return sum != 600000;
}
/* SPDX-License-Identifier: MIT */
