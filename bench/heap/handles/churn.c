/* Lists of 100 cells that are built, summed and dropped, with handles: churn LISTS. */
#include "heap_program.h"

static wn_ref build(wn_domain *d, intptr_t n, intptr_t seed) {
  WN_SCOPE(d);
  wn_ref list = wn_root(d, wn_int(0));
  for (; n; n--) {
    WN_SCOPE(d);
    wn_assign(list, wn_pair(d, 0, wn_root(d, wn_int(seed + n)), list));
  }
  return wn_escape(&wn_here, list);
}

static intptr_t sum(wn_domain *d, wn_ref list) {
  WN_SCOPE(d);
  wn_ref rest = wn_root(d, wn_value_of(list));
  intptr_t total = 0;
  while (!wn_is_int(wn_value_of(rest))) {
    WN_SCOPE(d);
    total += wn_to_int(wn_field(rest, 0));
    wn_assign(rest, wn_get(d, rest, 1));
  }
  return total;
}

static intptr_t build_and_sum(wn_domain *d, intptr_t seed) {
  WN_SCOPE(d);
  return sum(d, build(d, 100, seed));
}

int main(int count, char **words) {
  long lists = sequence_argument(count, words, 1000000);
  struct program program = program_begin();
  int64_t total = 0;
  for (long i = 1; i <= lists; i++) total = (total + build_and_sum(program.domain, i)) & SUM_MASK;
  printf("%ld lists: %lld\n", lists, (long long)total);
  return program_end(program);
}
/* SPDX-License-Identifier: MIT */
