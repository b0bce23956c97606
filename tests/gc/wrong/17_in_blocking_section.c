/* The heap is used in a blocking section.
 * in a blocking section */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_blocking_begin(d);
  if (IS_RIGHT) wn_blocking_end(d);
  wn_ref block = box(d, 1);
  if (!IS_RIGHT) wn_blocking_end(d);
  return wn_to_int(wn_field(block, 0)) != 1;
}
/* SPDX-License-Identifier: MIT */
