/* Lists of 100 cells that are built, summed and dropped, with handles: churn LISTS. */
#include "heap_program.h"

static void build(wn_domain *d, wn_ref list, intptr_t n, intptr_t seed) {
  wn_assign_int(list, 0);
  for (; n; n--) wn_push_int(d, list, 0, seed + n);
}

static intptr_t sum(wn_ref list) { /* nothing collects here */
  intptr_t total = 0;
  for (wn_value rest = wn_value_of(list); !wn_is_int(rest); rest = wn_field_of(rest, 1))
    total += wn_to_int(wn_field_of(rest, 0));
  return total;
}

static intptr_t build_and_sum(wn_domain *d, intptr_t seed) {
  WN_SCOPE(d);
  wn_ref list = wn_root(d, wn_int(0));
  build(d, list, 100, seed);
  return sum(list);
}

int main(int count, char **words) {
  long lists = sequence_argument(count, words, 1000000);
  struct program program = program_begin();
  int64_t total = 0;
  for (long i = 1; i <= lists; i++) {
    total = (total + build_and_sum(program.domain, i)) & SUM_MASK;
    wn_poll(program.domain);
  }
  printf("%ld lists: %lld\n", lists, (long long)total);
  return program_end(program);
}
/* SPDX-License-Identifier: MIT */
