/* A young block is stored into an old one without wn_set.
 * field 0 of the old block */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref old = box(d, 1);
  must(wn_gc_minor(d));
  wn_ref young = box(d, 2);
  if (IS_RIGHT)
    wn_set(d, old, 0, young);
  else
    *(wn_value *)wn_value_of(old) = wn_value_of(young);
  box(d, 3);
  return wn_to_int(wn_field(wn_get(d, old, 0), 0)) != 2;
}
/* SPDX-License-Identifier: MIT */
