/* Binary trees, as in the benchmarks game, with handles: trees DEPTH. */
#include "heap_program.h"

static void make(wn_domain *d, wn_ref tree, int depth) {
  WN_SCOPE(d);
  wn_ref left = wn_root(d, wn_int(0)), right = wn_root(d, wn_int(0));
  if (depth) {
    make(d, left, depth - 1);
    make(d, right, depth - 1);
  }
  wn_assign_pair(d, tree, 0, left, right);
}

static long check(wn_value tree) { /* nothing collects here */
  return wn_is_int(tree) ? 0 : 1 + check(wn_field_of(tree, 0)) + check(wn_field_of(tree, 1));
}

static long make_and_check(wn_domain *d, int depth) {
  WN_SCOPE(d);
  wn_ref tree = wn_root(d, wn_int(0));
  make(d, tree, depth);
  return check(wn_value_of(tree));
}

static void run(wn_domain *d, int most) {
  WN_SCOPE(d);
  printf("stretch %d: %ld\n", most + 1, make_and_check(d, most + 1));
  wn_ref long_lived = wn_root(d, wn_int(0));
  make(d, long_lived, most);
  for (int depth = 4; depth <= most; depth += 2) {
    long rounds = 1L << (most - depth + 4), sum = 0;
    for (long i = 0; i < rounds; i++) {
      sum += make_and_check(d, depth);
      wn_poll(d);
    }
    printf("%ld of depth %d: %ld\n", rounds, depth, sum);
  }
  printf("long-lived %d: %ld\n", most, check(wn_value_of(long_lived)));
}

int main(int count, char **words) {
  struct program program = program_begin();
  run(program.domain, (int)sequence_argument(count, words, 18));
  return program_end(program);
}
/* SPDX-License-Identifier: MIT */
