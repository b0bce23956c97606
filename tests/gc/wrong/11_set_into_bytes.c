/* A value is stored into bytes.
 * has bytes and no fields */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref block = IS_RIGHT ? wn_alloc(d, 2, 0) : wn_alloc_bytes(d, 16);
  wn_set_int(d, block, 0, 1);
  return wn_to_int(wn_field(block, 0)) != 1;
}
/* SPDX-License-Identifier: MIT */
