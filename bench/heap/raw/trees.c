/* Binary trees, as in the benchmarks game, in the raw tier: trees DEPTH. */
#include "heap_program.h"

/* A handle holds what the next allocation would make stale, and nothing else. */
static wn_value make(wn_domain *d, int depth) {
  wn_value left = wn_int(0), right = wn_int(0), *fields;
  if (!depth) {
    fields = wn_bump(d, 2, 0);
  } else {
    WN_SCOPE(d);
    wn_ref first = wn_root(d, make(d, depth - 1));
    wn_ref second = wn_root(d, make(d, depth - 1));
    fields = wn_bump(d, 2, 0);
    left = wn_value_of(first);
    right = wn_value_of(second);
  }
  fields[0] = left;
  fields[1] = right;
  return (wn_value)fields;
}

static long check(wn_value tree) {
  const wn_value *fields = (const wn_value *)tree;
  return wn_is_int(tree) ? 0 : 1 + check(fields[0]) + check(fields[1]);
}

static void run(wn_domain *d, int most) {
  WN_SCOPE(d);
  printf("stretch %d: %ld\n", most + 1, check(make(d, most + 1)));
  wn_ref long_lived = wn_root(d, make(d, most));
  for (int depth = 4; depth <= most; depth += 2) {
    long rounds = 1L << (most - depth + 4), sum = 0;
    for (long i = 0; i < rounds; i++) sum += check(make(d, depth));
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
