/* Whether chains of ephemerons are marked in linear time: ephemerons LONGEST [HELPERS [ORDER]].
 *
 * In a chain the data of each ephemeron are the key of another, so that each is marked because of
 * the one before. The ephemerons were made in the order of the chain, in the reverse order, or in a
 * random order; only the first key is reachable otherwise. All three are tried, or one of them by
 * its name. The time is that of a full collection, by length, and its ratio to the time of half the
 * length. */
#include "tree.h"
#include <string.h>
#include <winnow/gc.h>
#include <winnow/weak.h>

enum { SHORTEST = 1 << 14 };
enum order { FORWARD, BACKWARD, SHUFFLED, ORDERS };
static const char *const order_names[ORDERS] = {"forward", "backward", "shuffled"};

/* The place in the chain of the ephemeron that is made as the `i`th of `length`. */
static size_t place_of(enum order order, size_t i, size_t length) {
  if (order == FORWARD) return i;
  if (order == BACKWARD) return length - 1 - i;
  return (i * 7919 + 13) % length; /* of a power of two: each once */
}

static double collect(wn_domain *d) {
  double begin = program_seconds();
  wn_gc_full_major(d);
  return program_seconds() - begin;
}

static double time_chain(wn_domain *d, enum order order, size_t length) {
  WN_SCOPE(d);
  wn_ref blocks = wn_alloc(d, length + 1, 0), chain = wn_alloc(d, length, 0), first = wn_alloc(d, 1, 0);
  for (size_t i = 0; i <= length; i++) {
    WN_SCOPE(d);
    wn_set(d, blocks, i, i ? wn_alloc(d, 1, 0) : first);
  }
  for (size_t i = 0; i < length; i++) {
    WN_SCOPE(d);
    size_t place = place_of(order, i, length);
    wn_ref ephemeron = wn_ephemeron_new(d, 1);
    wn_ephemeron_set_key(d, ephemeron, 0, wn_get(d, blocks, place));
    wn_ephemeron_set_data(d, ephemeron, wn_get(d, blocks, place + 1));
    wn_set(d, chain, i, ephemeron);
  }
  wn_assign_int(blocks, 0);
  collect(d);
  double best = collect(d);
  for (int again = 0; again < 2; again++) {
    double seconds = collect(d);
    if (seconds < best) best = seconds;
  }
  for (size_t i = 0; i < length; i++) {
    WN_SCOPE(d);
    if (!wn_ephemeron_check_data(d, wn_get(d, chain, i))) return puts("a chain is broken"), exit(1), 0;
  }
  return best;
}

int main(int count, char **words) {
  wn_heap_options options = WN_HEAP_DEFAULTS;
  size_t longest = count > 1 ? (size_t)atof(words[1]) : 1 << 20;
  struct program program;
  options.helper_threads = count > 2 ? atoi(words[2]) : 0;
  program_check(wn_heap_open(&options, &program.heap));
  program_check(wn_domain_attach(program.heap, &program.domain));
  for (enum order order = 0; order < ORDERS; order++) {
    double before = 0;
    if (count > 3 && strcmp(words[3], order_names[order])) continue;
    for (size_t length = SHORTEST; length <= longest; length *= 2) {
      double seconds = time_chain(program.domain, order, length);
      printf("%s, %zu: %.1f ms", order_names[order], length, 1e3 * seconds);
      if (before > 0) printf(", %.2f times", seconds / before);
      putchar('\n');
      before = seconds;
    }
  }
  return program_end(program);
}
/* SPDX-License-Identifier: MIT */
