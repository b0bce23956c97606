/* Bytes behind the end of an old block are written, into the header of the next one.
 * words in a pool for 2 */
#include "wrong_run.h"

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref first = wn_alloc_bytes(d, IS_RIGHT ? 24 : 16), second = wn_alloc_bytes(d, 16);
  must(wn_gc_minor(d));
  char *bytes = wn_bytes(first);
  for (int i = 16; i < 24; i++) bytes[i] = 0x7f; /* here */
  box(d, 1);
  return ((char *)wn_bytes(second))[0];
}
/* SPDX-License-Identifier: MIT */
