/* A handle of the outer scope escapes.
 * is of an outer scope */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref outer = box(d, 1);
  wn_scope scope = wn_scope_enter(d);
  wn_ref inner = box(d, 2);
  inner = wn_escape(&scope, IS_RIGHT ? inner : outer);
  wn_scope_leave(&scope);
  return wn_to_int(wn_field(inner, 0)) != (IS_RIGHT ? 2 : 1);
}
/* SPDX-License-Identifier: MIT */
