/* The raw tier is asked for a block without words.
 * 1 to WN_MAX_WORDS words */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_value *fields = wn_bump(d, IS_RIGHT ? 1 : 0, 0);
  fields[0] = wn_int(1);
  return wn_root(d, (wn_value)fields).slot == NULL;
}
/* SPDX-License-Identifier: MIT */
