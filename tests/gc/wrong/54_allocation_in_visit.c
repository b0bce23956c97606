/* What wn_gc_walk calls allocates, while all domains stand still.
 * heap: a hook, a visit or a listener calls what may collect */
#include "wrong_run.h"

static wn_domain *domain;

static void count(const wn_gc_block *block, void *context) {
  WN_SCOPE(domain);
  *(size_t *)context += block->words;
  if (!IS_RIGHT) box(domain, 1);
}

static int run(wn_domain *d) {
  WN_SCOPE(d);
  size_t words = 0;
  wn_ref kept = box(d, 1);
  domain = d;
  must(wn_gc_walk(d, count, &words));
  return words == 0 || wn_is_null(kept);
}
/* SPDX-License-Identifier: MIT */
