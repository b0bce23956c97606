/* Lists of 100 cells that are built, summed and dropped, in the raw tier: churn LISTS. */
#include "keep.h"

static wn_value build(wn_domain *d, intptr_t n, intptr_t seed) {
  wn_value list = wn_int(0);
  keep_enter(d);
  for (; n; n--) list = keep_pair(d, wn_int(seed + n), list);
  keep_leave(d);
  return list;
}

static intptr_t sum(wn_value list) {
  intptr_t total = 0;
  for (; !wn_is_int(list); list = ((const wn_value *)list)[1])
    total += wn_to_int(((const wn_value *)list)[0]);
  return total;
}

int main(int count, char **words) {
  long lists = sequence_argument(count, words, 1000000);
  struct program program = program_begin();
  int64_t total = 0;
  for (long i = 1; i <= lists; i++) {
    total = (total + sum(build(program.domain, 100, i))) & SUM_MASK;
    wn_poll(program.domain);
  }
  printf("%ld lists: %lld\n", lists, (long long)total);
  return program_end(program);
}
/* SPDX-License-Identifier: MIT */
