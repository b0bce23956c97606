/* A global root is freed twice.
 * the global root was freed */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_global *global = wn_global_new(d, number(d, 1));
  wn_global_free(d, global);
  if (!IS_RIGHT) wn_global_free(d, global);
  return 0;
}
/* SPDX-License-Identifier: MIT */
