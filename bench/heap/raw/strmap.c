/* A persistent balanced tree from short strings to numbers, in the raw tier: strmap UPDATES. */
#include "strmap_add.h"

static void run(wn_domain *d, long updates) {
  WN_SCOPE(d);
  wn_ref map = wn_root(d, wn_int(0));
  uint64_t seed = 1;
  for (long i = 1; i <= updates; i++) add_next(d, map, &seed, i & 1023);
  node_report(updates, wn_value_of(map));
}

int main(int count, char **words) {
  struct program program = program_begin();
  run(program.domain, sequence_argument(count, words, 2000000));
  return program_end(program);
}
/* SPDX-License-Identifier: MIT */
