/* Binary trees, as in the benchmarks game, with handles: trees DEPTH. */
#include "heap_program.h"

static wn_ref make(wn_domain *d, int depth) {
  WN_SCOPE(d);
  wn_ref left = depth ? make(d, depth - 1) : wn_root(d, wn_int(0));
  wn_ref right = depth ? make(d, depth - 1) : wn_root(d, wn_int(0));
  return wn_escape(&wn_here, wn_pair(d, 0, left, right));
}

static long check(wn_domain *d, wn_ref tree) {
  if (wn_is_int(wn_value_of(tree))) return 0;
  WN_SCOPE(d);
  return 1 + check(d, wn_get(d, tree, 0)) + check(d, wn_get(d, tree, 1));
}

static long make_and_check(wn_domain *d, int depth) {
  WN_SCOPE(d);
  return check(d, make(d, depth));
}

static void run(wn_domain *d, int most) {
  WN_SCOPE(d);
  printf("stretch %d: %ld\n", most + 1, make_and_check(d, most + 1));
  wn_ref long_lived = make(d, most);
  for (int depth = 4; depth <= most; depth += 2) {
    long rounds = 1L << (most - depth + 4), sum = 0;
    for (long i = 0; i < rounds; i++) sum += make_and_check(d, depth);
    printf("%ld of depth %d: %ld\n", rounds, depth, sum);
  }
  printf("long-lived %d: %ld\n", most, check(d, long_lived));
}

int main(int count, char **words) {
  struct program program = program_begin();
  run(program.domain, (int)sequence_argument(count, words, 18));
  return program_end(program);
}
/* SPDX-License-Identifier: MIT */
