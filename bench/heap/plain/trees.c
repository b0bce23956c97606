/* Binary trees, as in the benchmarks game: trees DEPTH. */
#include "cells.h"
#include "sequence.h"

struct tree {
  struct tree *left, *right;
};

static struct tree *make(int depth) {
  struct tree *left = depth ? make(depth - 1) : NULL;
  struct tree *right = depth ? make(depth - 1) : NULL;
  struct tree *tree = cells_new(sizeof *tree);
  tree->left = left;
  tree->right = right;
  return tree;
}

static long check(const struct tree *tree) { return tree ? 1 + check(tree->left) + check(tree->right) : 0; }

static void drop(struct tree *tree) {
  if (!tree) return;
  drop(tree->left);
  drop(tree->right);
  cells_free(tree);
}

static long check_and_drop(struct tree *tree) {
  long sum = check(tree);
  if (cells_are_freed) drop(tree);
  return sum;
}

int main(int count, char **words) {
  int most = (int)sequence_argument(count, words, 18);
  struct tree *long_lived;
  cells_begin();
  printf("stretch %d: %ld\n", most + 1, check_and_drop(make(most + 1)));
  long_lived = make(most);
  for (int depth = 4; depth <= most; depth += 2) {
    long rounds = 1L << (most - depth + 4), sum = 0;
    for (long i = 0; i < rounds; i++) sum += check_and_drop(make(depth));
    printf("%ld of depth %d: %ld\n", rounds, depth, sum);
  }
  printf("long-lived %d: %ld\n", most, check_and_drop(long_lived));
  return 0;
}
/* SPDX-License-Identifier: MIT */
