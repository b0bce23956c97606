/* The elements of a bigarray are used after its block has died.
 * at its line */
#include "wrong_run.h"

#include <winnow/marshal.h>

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_bigarray array;
  {
    WN_SCOPE(d);
    const size_t length = 8;
    wn_ref block = wn_bigarray_new(d, WN_BIGARRAY_UINT8, false, 1, &length);
    if (!wn_bigarray_get(block, &array)) return 1;
    if (IS_RIGHT) return ((const char *)array.data)[0] != 0;
  }
  must(wn_gc_full_major(d));
  return ((const char *)array.data)[0] != 0; /* here */
}
/* SPDX-License-Identifier: MIT */
