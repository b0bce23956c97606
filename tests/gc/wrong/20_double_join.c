/* A thread is joined twice.
 * was joined already */
#include "wrong_run.h"

static void body(wn_domain *domain, void *argument) {
  WN_SCOPE(domain);
  box(domain, 1);
  *(bool *)argument = true;
}

static int run(wn_domain *d) {
  WN_SCOPE(d);
  bool ran = false;
  wn_join *join;
  must(wn_thread_spawn(d, body, &ran, &join));
  must(wn_join_wait(d, join));
  if (!IS_RIGHT) must(wn_join_wait(d, join));
  return !ran;
}
/* SPDX-License-Identifier: MIT */
