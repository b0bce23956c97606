/* A second handle escapes, whose slot the first one took.
 * an earlier escape took its slot */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_scope scope = wn_scope_enter(d);
  wn_ref second = box(d, 2), first = box(d, 1);
  if (IS_RIGHT) second = wn_pair(d, 0, first, second);
  first = wn_escape(&scope, IS_RIGHT ? second : first);
  if (!IS_RIGHT) second = wn_escape(&scope, second);
  wn_scope_leave(&scope);
  return wn_to_int(wn_field(IS_RIGHT ? wn_get(d, first, 1) : second, 0)) != 2;
}
/* SPDX-License-Identifier: MIT */
