/* Bytes that are not pinned are used in a blocking section.
 * at its line */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref raw = wn_alloc_bytes(d, 24);
  if (IS_RIGHT) must(wn_pin(d, raw));
  char *bytes = wn_bytes(raw);
  wn_blocking_begin(d);
  bytes[0] = 1; /* here */
  wn_blocking_end(d);
  if (IS_RIGHT) must(wn_unpin(d, raw));
  return ((char *)wn_bytes(raw))[0] != 1;
}
/* SPDX-License-Identifier: MIT */
