/* A value is kept where no collection looks, until its block was freed.
 * a stale value: its block */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_value value;
  wn_ref kept = number(d, 0);
  {
    WN_SCOPE(d);
    wn_ref block = box(d, 1), others[50];
    for (int i = 0; i < 50; i++) others[i] = box(d, i);
    must(wn_gc_minor(d));
    if (IS_RIGHT) wn_assign(kept, block);
    value = wn_value_of(block);
    (void)others;
  }
  must(wn_gc_full_major(d));
  if (IS_RIGHT) value = wn_value_of(kept);
  return wn_to_int(wn_field(wn_root(d, value), 0)) != 1;
}
/* SPDX-License-Identifier: MIT */
