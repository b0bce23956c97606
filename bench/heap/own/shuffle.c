/* A large array of blocks that is shuffled while blocks in it are replaced: shuffle ENTRIES.
 *
 * The array is one old block, so every swap is two stores that the collector must learn of, and a
 * replacement makes an old block point to a young one. Each block is [number, number of
 * replacements]; both are summed in the end. */
#include "tree.h"

static wn_value box(wn_domain *d, intptr_t number, intptr_t replaced) {
  wn_value *fields = wn_bump(d, 2, 0);
  fields[0] = wn_int(number);
  fields[1] = wn_int(replaced);
  return (wn_value)fields;
}

static intptr_t box_field(wn_ref block, size_t i) { return wn_to_int(((const wn_value *)*block.slot)[i]); }

static void swap(wn_domain *d, wn_ref array, size_t i, size_t j) {
  WN_SCOPE(d);
  wn_ref first = wn_get(d, array, i), second = wn_get(d, array, j);
  wn_set(d, array, i, second);
  wn_set(d, array, j, first);
}

static void replace(wn_domain *d, wn_ref array, size_t i) {
  WN_SCOPE(d);
  wn_ref old = wn_get(d, array, i);
  wn_ref new = wn_root(d, box(d, box_field(old, 0), box_field(old, 1) + 1));
  wn_set(d, array, i, new);
}

static void shuffle(wn_domain *d, wn_ref array, size_t entries, uint64_t *seed) {
  for (size_t i = entries - 1; i > 0; i--) {
    swap(d, array, i, (size_t)sequence_next(seed) % (i + 1));
    if (i % 4 == 0) replace(d, array, i);
  }
}

static wn_ref make(wn_domain *d, size_t entries) {
  wn_ref array = wn_alloc(d, entries, 0);
  for (size_t i = 0; i < entries; i++) {
    WN_SCOPE(d);
    wn_set(d, array, i, wn_root(d, box(d, (intptr_t)i, 0)));
  }
  return array;
}

static int check(wn_domain *d, wn_ref array, size_t entries, long rounds) {
  intptr_t sum = 0, replaced = 0, wanted = (intptr_t)((entries - 1) / 4) * rounds;
  for (size_t i = 0; i < entries; i++) {
    WN_SCOPE(d);
    wn_ref block = wn_get(d, array, i);
    sum += box_field(block, 0);
    replaced += box_field(block, 1);
  }
  printf("%zu entries: %ld, %ld replaced\n", entries, (long)sum, (long)replaced);
  return sum == (intptr_t)(entries * (entries - 1) / 2) && replaced == wanted ? 0 : 1;
}

static int run(wn_domain *d, size_t entries) {
  WN_SCOPE(d);
  const int rounds = 4;
  uint64_t seed = 1;
  wn_ref array = make(d, entries);
  double begin = program_seconds(), took;
  for (int i = 0; i < rounds; i++) shuffle(d, array, entries, &seed);
  took = program_seconds() - begin;
  printf("%.1f ns a swap\n", took * 1e9 / (double)(entries - 1) / rounds);
  return check(d, array, entries, rounds);
}

int main(int count, char **words) {
  struct program program = program_begin();
  int wrong = run(program.domain, (size_t)sequence_argument(count, words, 4000000));
  return program_end(program) + wrong;
}
/* SPDX-License-Identifier: MIT */
