/* Lists of 100 cells that are built, summed and dropped, in the raw tier: churn LISTS. */
#include "heap_program.h"

static wn_value build(wn_domain *d, intptr_t n, intptr_t seed) {
  WN_SCOPE(d);
  wn_ref list = wn_root(d, wn_int(0));
  for (; n; n--) {
    wn_value *cell = wn_bump(d, 2, 0);
    cell[0] = wn_int(seed + n);
    cell[1] = *list.slot;
    *list.slot = (wn_value)cell;
  }
  return wn_value_of(list);
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
  for (long i = 1; i <= lists; i++) total = (total + sum(build(program.domain, 100, i))) & SUM_MASK;
  printf("%ld lists: %lld\n", lists, (long long)total);
  return program_end(program);
}
/* SPDX-License-Identifier: MIT */
