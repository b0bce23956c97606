/* Trees of many sizes beside one tree and one array that stay: gcbench [DOMAINS [DEPTH]].
 *
 * The work is that of GCBench by Ellis, Kovac and Boehm. Each domain does all of it: with more
 * domains than processors this shows what it costs to bring all of them to a stop. */
#include "tree.h"

#define DOMAINS_MOST 64
static int depth_most = 18;

static void make_trees(wn_domain *d, int depth) {
  long rounds = (long)(2 * ((size_t)4 << depth_most) / ((size_t)2 << depth));
  for (long i = 0; i < rounds; i++) tree_expect(d, tree_from_root(d, depth), depth);
  for (long i = 0; i < rounds; i++) tree_expect(d, tree_from_leaves(d, depth), depth);
}

static void check_array(wn_ref array, size_t words) {
  const double *numbers = wn_bytes(array);
  for (size_t i = 1; i < words; i++) {
    if (numbers[i] == 1.0 / (double)i) continue;
    fprintf(stderr, "the array's number %zu changed\n", i);
    exit(1);
  }
}

static void work(wn_domain *d, void *argument) {
  WN_SCOPE(d);
  const size_t words = 500000;
  (void)argument;
  tree_expect(d, tree_from_leaves(d, depth_most), depth_most);
  wn_ref stays = wn_root(d, tree_from_root(d, depth_most - 2));
  wn_ref array = wn_alloc_bytes(d, words * sizeof(double));
  for (size_t i = 1; i < words; i++) ((double *)wn_bytes(array))[i] = 1.0 / (double)i;
  for (int depth = 4; depth <= depth_most - 2; depth += 2) make_trees(d, depth);
  tree_expect(d, *stays.slot, depth_most - 2);
  check_array(array, words);
}

int main(int count, char **words) {
  long domains = sequence_argument(count, words, 1);
  struct program program = program_begin();
  wn_join *joins[DOMAINS_MOST];
  double begin = program_seconds();
  if (count > 2) depth_most = atoi(words[2]);
  if (domains < 1 || domains > DOMAINS_MOST) return fprintf(stderr, "gcbench: 1 to 64 domains\n"), 2;
  for (long i = 1; i < domains; i++) program_check(wn_domain_spawn(program.domain, work, NULL, &joins[i]));
  work(program.domain, NULL);
  for (long i = 1; i < domains; i++) program_check(wn_join_wait(program.domain, joins[i]));
  printf("%ld domains: %.3f s\n", domains, program_seconds() - begin);
  return program_end(program);
}
/* SPDX-License-Identifier: MIT */
