/* Bytes behind the end of a young block are written.
 * at its line */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref raw = wn_alloc_bytes(d, IS_RIGHT ? 24 : 16);
  char *bytes = wn_bytes(raw);
  bytes[16] = 1; /* here */
  return bytes[0];
}
/* SPDX-License-Identifier: MIT */
