/* An array of 2^18 lists, each with the last four keys that fell into its slot, with handles: slots UPDATES. */
#include "heap_program.h"

#define SLOTS (1L << 18)

static wn_ref take(wn_domain *d, int n, wn_ref list) {
  WN_SCOPE(d);
  if (!n || wn_is_int(wn_value_of(list))) return wn_escape(&wn_here, wn_root(d, wn_int(0)));
  wn_ref head = wn_get(d, list, 0);
  wn_ref tail = take(d, n - 1, wn_get(d, list, 1));
  return wn_escape(&wn_here, wn_pair(d, 0, head, tail));
}

static void update(wn_domain *d, wn_ref lists, size_t slot, intptr_t key) {
  WN_SCOPE(d);
  wn_ref old = take(d, 3, wn_get(d, lists, slot));
  wn_set(d, lists, slot, wn_pair(d, 0, wn_root(d, wn_int(key)), old));
}

static int64_t fold(int64_t sum, wn_value list) { /* nothing collects here */
  for (; !wn_is_int(list); list = wn_field_of(list, 1))
    sum = (sum * 31 + wn_to_int(wn_field_of(list, 0))) & SUM_MASK;
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
    wn_poll(d);
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
