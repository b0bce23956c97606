/* Bytes behind the end of a block of the major heap are read.
 * at its line */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref raw = wn_alloc_bytes(d, 5000);
  const char *bytes = wn_bytes(raw);
  return bytes[IS_RIGHT ? 4999 : 5000]; /* here */
}
/* SPDX-License-Identifier: MIT */
