/* The bytes of an old block are read by a pointer that was kept over wn_custom_adjust.
 * at its line */
#include "wrong_run.h"

static int run(wn_domain *d) {
  static const wn_custom_ops ops = {"file", NULL};
  WN_SCOPE(d);
  wn_ref raw = wn_alloc_bytes(d, 5000), custom = wn_alloc_custom(d, &ops, 8, 0);
  const char *bytes = wn_bytes(raw);
  must(wn_custom_adjust(d, custom, 1));
  if (IS_RIGHT) bytes = wn_bytes(raw);
  return bytes[4000] != 0; /* here */
}
/* SPDX-License-Identifier: MIT */
