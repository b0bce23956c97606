/* The closure of a finaliser is a handle of a scope that has ended.
 * wn_gc_finalise: a handle is used after its scope ended */
#include "wrong_run.h"

static void call(wn_domain *d, wn_ref value, wn_ref closure) { (void)d, (void)value, (void)closure; }

static wn_ref make_closure(wn_domain *d) {
  wn_scope scope = wn_scope_enter(d);
  wn_ref closure = box(d, 1);
  if (IS_RIGHT) return wn_escape(&scope, closure);
  wn_scope_leave(&scope);
  return closure;
}

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref value = box(d, 2), closure = make_closure(d);
  must(wn_gc_finalise_with(d, call, closure, value));
  return 0;
}
/* SPDX-License-Identifier: MIT */
