/* A handle is used after its domain ended.
 * thread or domain has ended */
#include "wrong_run.h"

static void body(wn_domain *domain, void *argument) {
  WN_SCOPE(domain);
  *(wn_ref *)argument = box(domain, 1);
}
static void right_body(wn_domain *domain, void *argument) {
  WN_SCOPE(domain);
  *(wn_global **)argument = wn_global_new(domain, box(domain, 1));
}

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref block = {NULL};
  wn_global *global = NULL;
  wn_join *join;
  must(wn_domain_spawn(d, IS_RIGHT ? right_body : body, IS_RIGHT ? (void *)&global : (void *)&block, &join));
  must(wn_join_wait(d, join));
  if (IS_RIGHT) block = wn_global_get(d, global);
  bool wrong = wn_to_int(wn_field(block, 0)) != 1;
  wn_global_free(d, global);
  return wrong;
}
/* SPDX-License-Identifier: MIT */
