/* Binary trees, as in the benchmarks game, in the raw tier: trees DEPTH. */
#include "keep.h"

/* A handle holds the left tree while the right one is made, and nothing else. */
static wn_value make(wn_domain *d, int depth) {
  if (!depth) return keep_pair(d, wn_int(0), wn_int(0));
  WN_SCOPE(d);
  wn_ref left = wn_root(d, make(d, depth - 1));
  wn_value right = make(d, depth - 1);
  return keep_pair(d, wn_value_of(left), right);
}

static wn_value tree(wn_domain *d, int depth) {
  keep_enter(d);
  wn_value made = make(d, depth);
  keep_leave(d);
  return made;
}

static long check(wn_value tree) {
  const wn_value *fields = (const wn_value *)tree;
  return wn_is_int(tree) ? 0 : 1 + check(fields[0]) + check(fields[1]);
}

static void run(wn_domain *d, int most) {
  WN_SCOPE(d);
  printf("stretch %d: %ld\n", most + 1, check(tree(d, most + 1)));
  wn_ref long_lived = wn_root(d, tree(d, most));
  for (int depth = 4; depth <= most; depth += 2) {
    long rounds = 1L << (most - depth + 4), sum = 0;
    for (long i = 0; i < rounds; i++) {
      sum += check(tree(d, depth));
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
