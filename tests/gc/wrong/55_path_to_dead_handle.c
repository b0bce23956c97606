/* The path is asked for by a handle of a scope that has ended.
 * wn_block_path: a handle is used after its scope ended */
#include "wrong_run.h"

#include <winnow/snapshot.h>

static void step(void *context, const wn_path_step *of) { (void)context, (void)of; }

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref block;
  {
    WN_SCOPE(d);
    block = box(d, 1);
    if (IS_RIGHT) must(wn_block_path(d, block, step, NULL));
  }
  if (!IS_RIGHT) must(wn_block_path(d, block, step, NULL));
  return 0;
}
/* SPDX-License-Identifier: MIT */
