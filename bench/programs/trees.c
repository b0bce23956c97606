/* Binary trees: nothing but malloc and free of two-word nodes. Usage: trees DEPTH */
#include <stdio.h>
#include <stdlib.h>

struct tree {
  struct tree *left, *right;
};

static struct tree *grow(int depth) {
  struct tree *tree = malloc(sizeof *tree);
  if (!tree) abort();
  tree->left = depth ? grow(depth - 1) : NULL;
  tree->right = depth ? grow(depth - 1) : NULL;
  return tree;
}

static long count_and_free(struct tree *tree) {
  if (!tree) return 0;
  long count = 1 + count_and_free(tree->left) + count_and_free(tree->right);
  free(tree);
  return count;
}

int main(int argc, char **argv) {
  int most = argc > 1 ? atoi(argv[1]) : 16;
  struct tree *lasting = grow(most);
  long total = 0;
  for (int depth = 4; depth <= most; depth += 4)
    for (int i = 0; i < 1 << (most - depth + 2); i++) total += count_and_free(grow(depth));
  total += count_and_free(lasting);
  printf("%ld\n", total);
  return 0;
}
/* SPDX-License-Identifier: MIT */
