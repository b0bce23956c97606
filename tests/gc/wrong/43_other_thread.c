/* A handle is used by another thread of its domain.
 * belongs to another thread or domain */
#include "wrong_run.h"

struct gift {
  wn_ref block;
  wn_global *global;
};
static void body(wn_domain *domain, void *argument) {
  WN_SCOPE(domain);
  struct gift *gift = argument;
  wn_ref block = IS_RIGHT ? wn_global_get(domain, gift->global) : gift->block;
  wn_set_int(domain, block, 0, 5);
}

static int run(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref block = box(d, 1);
  struct gift gift = {block, wn_global_new(d, block)};
  wn_join *join;
  must(wn_thread_spawn(d, body, &gift, &join));
  must(wn_join_wait(d, join));
  wn_global_free(d, gift.global);
  return wn_to_int(wn_field(block, 0)) != 5;
}
/* SPDX-License-Identifier: MIT */
