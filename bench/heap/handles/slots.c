/* An array of 2^18 lists, each with the last four keys that fell into its slot, with handles: slots
 * UPDATES. */
#include "slots_run.h"

static wn_ref take(wn_domain *d, int n, wn_ref list) {
  WN_SCOPE(d);
  if (!n || wn_is_int(wn_value_of(list))) return wn_escape(&wn_here, wn_root(d, wn_int(0)));
  wn_ref head = wn_get(d, list, 0);
  wn_ref tail = take(d, n - 1, wn_get(d, list, 1));
  return wn_escape(&wn_here, wn_pair(d, 0, head, tail));
}

static void update(wn_domain *d, wn_ref lists, size_t slot, intptr_t key) {
  WN_SCOPE(d);
  wn_ref old = take(d, 3, wn_get(d, lists, slot));
  wn_set(d, lists, slot, wn_pair(d, 0, wn_root(d, wn_int(key)), old));
}

int main(int count, char **words) { return slots_main(count, words); }
/* SPDX-License-Identifier: MIT */
