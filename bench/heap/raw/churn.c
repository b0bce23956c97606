/* Lists of 100 cells that are built, summed and dropped, in the raw tier: churn LISTS. */
#include "keep.h"

/* The loop calls nothing but the slow path, so it has the young pointer in a variable of its own, of which gcc makes better code
 * than of a register that is set apart. */
static wn_value build(wn_domain *d, intptr_t n, intptr_t seed) {
  const size_t bytes = 3 * sizeof(wn_value);
  wn_value list = wn_int(0);
  char *at = wn_face(d)->young_ptr;
#pragma GCC unroll 4
  for (; n; n--) {
    at -= bytes;
    if (__builtin_expect(!wn_above_limit(wn_face(d), at), 0)) {
      WN_SCOPE(d);
      wn_face(d)->young_ptr = at + bytes;
      wn_ref tail = wn_root(d, list);
      wn_value *fields = wn_bump_slow(d, 2, 0);
      at = wn_face(d)->young_ptr;
      list = keep_fill(fields, wn_int(seed + n), *tail.slot);
      continue;
    }
    *(wn_value *)at = WN_HEADER(2, 0);
    list = keep_fill((wn_value *)at + 1, wn_int(seed + n), list);
  }
  wn_face(d)->young_ptr = at;
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
