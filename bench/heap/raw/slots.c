/* An array of 2^18 lists, each with the last four keys that fell into its slot, in the raw tier: slots UPDATES. */
#include "heap_program.h"

#define SLOTS (1L << 18)

static wn_value cons(wn_domain *d, wn_value number, wn_ref list) {
  wn_value *cell = wn_bump(d, 2, 0);
  cell[0] = number;
  cell[1] = wn_value_of(list);
  return (wn_value)cell;
}

/* The keys are integers, so an allocation makes only lists stale. */
static wn_value take(wn_domain *d, int n, wn_value list) {
  WN_SCOPE(d);
  const wn_value *cell = (const wn_value *)list;
  if (!n || wn_is_int(list)) return wn_int(0);
  wn_value key = cell[0];
  return cons(d, key, wn_root(d, take(d, n - 1, cell[1])));
}

static void update(wn_domain *d, wn_ref lists, size_t slot, intptr_t key) {
  WN_SCOPE(d);
  wn_ref list = wn_root(d, take(d, 3, wn_field(lists, slot)));
  *list.slot = cons(d, wn_int(key), list);
  wn_set(d, lists, slot, list);
}

static int64_t fold(int64_t sum, wn_value list) {
  for (; !wn_is_int(list); list = ((const wn_value *)list)[1])
    sum = (sum * 31 + wn_to_int(((const wn_value *)list)[0])) & SUM_MASK;
  return sum;
}

static void run(wn_domain *d, long updates) {
  WN_SCOPE(d);
  uint64_t seed = 1;
  int64_t sum = 0;
  wn_ref lists = wn_alloc(d, SLOTS, 0);
  for (long i = 0; i < updates; i++) {
    size_t slot = (size_t)(sequence_next(&seed) & (SLOTS - 1));
    update(d, lists, slot, sequence_next(&seed));
  }
  for (size_t i = 0; i < SLOTS; i++) sum = fold(sum, wn_field(lists, i));
  printf("%ld updates: %lld\n", updates, (long long)sum);
}

int main(int count, char **words) {
  struct program program = program_begin();
  run(program.domain, sequence_argument(count, words, 8000000));
  return program_end(program);
}
/* SPDX-License-Identifier: MIT */
