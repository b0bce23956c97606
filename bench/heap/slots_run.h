/* The array of lists on our heap: the loop around the one function, `update`, that handles and the
 * raw tier write differently. */
#ifndef BENCH_HEAP_SLOTS_RUN_H
#define BENCH_HEAP_SLOTS_RUN_H

#include "heap_program.h"

#define SLOTS (1L << 18)

/* Puts a key in front of a slot's list, and keeps the first three of what was there. */
static void update(wn_domain *d, wn_ref lists, size_t slot, intptr_t key);

static inline int64_t slots_fold(int64_t sum, wn_value list) { /* nothing collects here */
  for (; !wn_is_int(list); list = wn_field_of(list, 1))
    sum = (sum * 31 + wn_to_int(wn_field_of(list, 0))) & SUM_MASK;
  return sum;
}

static inline void slots_run(wn_domain *d, long updates) {
  WN_SCOPE(d);
  uint64_t seed = 1;
  int64_t sum = 0;
  wn_ref lists = wn_alloc(d, SLOTS, 0);
  for (long i = 0; i < updates; i++) {
    size_t slot = (size_t)(sequence_next(&seed) & (SLOTS - 1));
    update(d, lists, slot, sequence_next(&seed));
    wn_poll(d);
  }
  for (size_t i = 0; i < SLOTS; i++) sum = slots_fold(sum, wn_field(lists, i));
  printf("%ld updates: %lld\n", updates, (long long)sum);
}

static inline int slots_main(int count, char **words) {
  struct program program = program_begin();
  slots_run(program.domain, sequence_argument(count, words, 8000000));
  return program_end(program);
}

#endif
/* SPDX-License-Identifier: MIT */
