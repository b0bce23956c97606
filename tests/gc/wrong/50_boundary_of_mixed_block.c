/* Field 0 of a mixed block is changed.
 * field 0 of a mixed block says where its bytes begin */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref block = wn_alloc_mixed(d, 2, 8);
  wn_set_int(d, block, IS_RIGHT ? 1 : 0, 3);
  box(d, 3);
  return wn_to_int(wn_field(block, 1)) != 3;
}
/* SPDX-License-Identifier: MIT */
