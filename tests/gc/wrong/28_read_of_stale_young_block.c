/* A field of a young block is read by a pointer that was kept over an allocation.
 * at its line */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref block = box(d, 1);
  const wn_value *fields = (const wn_value *)wn_value_of(block);
  box(d, 2);
  if (IS_RIGHT) fields = (const wn_value *)wn_value_of(block);
  return fields[0] != wn_int(1); /* here */
}
/* SPDX-License-Identifier: MIT */
