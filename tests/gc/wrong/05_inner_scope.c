/* A handle is used after its scope ended.
 * after its scope ended */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref block;
  {
    wn_scope scope = wn_scope_enter(d);
    block = box(d, 1);
    if (IS_RIGHT) block = wn_escape(&scope, block);
    wn_scope_leave(&scope);
  }
  return wn_to_int(wn_field(block, 0)) != 1;
}
/* SPDX-License-Identifier: MIT */
