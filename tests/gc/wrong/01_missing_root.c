/* A value is kept where no collection looks.
 * a stale value */
#include "wrong_run.h"

struct list {
  wn_value first;
};

static int run(wn_domain *d) {
  WN_SCOPE(d);
  struct list list;
  wn_ref kept;
  {
    WN_SCOPE(d);
    wn_ref block = box(d, 1);
    list.first = wn_value_of(block);
    wn_global *global = wn_global_new(d, block);
    box(d, 2);
    if (IS_RIGHT) list.first = wn_value_of(wn_global_get(d, global));
    wn_global_free(d, global);
  }
  kept = wn_root(d, list.first);
  return wn_to_int(wn_field(kept, 0)) != 1;
}
/* SPDX-License-Identifier: MIT */
