/* A value is kept in a custom block, which the collector does not scan.
 * a stale value */
#include "wrong_run.h"

static int run(wn_domain *d) {
  static const wn_custom_ops ops = {"cell", NULL};
  WN_SCOPE(d);
  wn_ref custom = wn_alloc_custom(d, &ops, sizeof(wn_value), 0), block = box(d, 1);
  *(wn_value *)wn_bytes(custom) = wn_value_of(block);
  wn_poll(d);
  if (IS_RIGHT) *(wn_value *)wn_bytes(custom) = wn_value_of(block);
  return wn_to_int(wn_field(wn_root(d, *(wn_value *)wn_bytes(custom)), 0)) != 1;
}
/* SPDX-License-Identifier: MIT */
