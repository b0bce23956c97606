/* The raw tier is asked for a large block.
 * 1 to WN_MAX_YOUNG_WORDS words */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  enum { WORDS = 300 };
  if (IS_RIGHT) return wn_is_null(wn_alloc(d, WORDS, 0));
  return !wn_bump(d, WORDS, 0);
}
/* SPDX-License-Identifier: MIT */
