/* The bytes of a young block are written by a pointer that was kept over wn_poll.
 * a field pointer was kept */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref raw = wn_alloc_bytes(d, 24);
  char *bytes = wn_bytes(raw);
  wn_poll(d);
  if (IS_RIGHT) bytes = wn_bytes(raw);
  bytes[3] = 1; /* here */
  wn_poll(d);
  return ((char *)wn_bytes(raw))[3] != 1;
}
/* SPDX-License-Identifier: MIT */
