/* A field of an old block is read by a pointer that was kept over an allocation.
 * at its line */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref block = wn_pair(d, 0, number(d, 1), number(d, 2));
  must(wn_gc_minor(d));
  const wn_value *fields = (const wn_value *)wn_value_of(block);
  box(d, 2);
  if (IS_RIGHT) fields = (const wn_value *)wn_value_of(block);
  return fields[1] != wn_int(2); /* here */
}
/* SPDX-License-Identifier: MIT */
