/* A global root is read after it was freed.
 * the global root was freed */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_global *global = wn_global_new(d, number(d, 1));
  if (!IS_RIGHT) wn_global_free(d, global);
  bool wrong = wn_to_int(wn_value_of(wn_global_get(d, global))) != 1;
  if (IS_RIGHT) wn_global_free(d, global);
  return wrong;
}
/* SPDX-License-Identifier: MIT */
