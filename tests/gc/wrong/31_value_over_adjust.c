/* A raw value is kept over wn_custom_adjust.
 * a stale value */
#include "wrong_run.h"

static int run(wn_domain *d) {
  static const wn_custom_ops ops = {"file", NULL};
  WN_SCOPE(d);
  wn_ref custom = wn_alloc_custom(d, &ops, 8, 0);
  wn_value value = wn_value_of(custom);
  must(wn_custom_adjust(d, custom, 1));
  if (IS_RIGHT) value = wn_value_of(custom);
  return !wn_words(wn_value_of(wn_root(d, value)));
}
/* SPDX-License-Identifier: MIT */
