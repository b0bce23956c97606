/* Bytes are used after their block was unpinned.
 * at its line */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref raw = wn_alloc_bytes(d, 24);
  must(wn_pin(d, raw));
  const char *bytes = wn_bytes(raw);
  if (!IS_RIGHT) must(wn_unpin(d, raw));
  box(d, 1);
  bool wrong = bytes[16] != 0; /* here */
  if (IS_RIGHT) must(wn_unpin(d, raw));
  return wrong;
}
/* SPDX-License-Identifier: MIT */
