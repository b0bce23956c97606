/* A raw store behind the last field.
 * wn_store: the block has fewer fields */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref block = wn_alloc(d, 2, 0);
  wn_store(d, wn_value_of(block), IS_RIGHT ? 1 : 2, wn_int(5));
  return wn_to_int(wn_field(block, 1)) != 5;
}
/* SPDX-License-Identifier: MIT */
