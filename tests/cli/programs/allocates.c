/* Programs whose allocating functions are plain: allocates loop|main|tree|wrapped|lines. */
#include <stdlib.h>
#include <string.h>

static char *kept[100000];

__attribute__((noinline)) static char *obtain(size_t bytes) {
  char *block = malloc(bytes);
  if (block) *block = 1;
  return block;
}

struct tree {
  struct tree *left, *right;
  unsigned key;
  char more[64];
};

__attribute__((noinline)) static struct tree *insert(struct tree *tree, unsigned key) {
  if (!tree) {
    tree = calloc(1, sizeof *tree);
    if (!tree) abort();
    tree->key = key;
  } else if (key < tree->key) {
    tree->left = insert(tree->left, key);
  } else {
    tree->right = insert(tree->right, key);
  }
  return tree;
}

__attribute__((noinline)) static void *xmalloc(size_t bytes) {
  void *block = malloc(bytes);
  if (!block) abort();
  return block;
}

__attribute__((noinline)) static char *order(int i) {
  char *block = xmalloc(300 + (size_t)i % 7);
  block[0] = 1;
  return block;
}

__attribute__((noinline)) static char *user(int i) {
  char *block = xmalloc(100 + (size_t)i % 5);
  block[0] = 1;
  return block;
}

/* The second line has most of the bytes, the first most of the blocks. */
__attribute__((noinline)) static char *two_lines(int i) {
  if (i % 4) return calloc(1, 10);
  return calloc(1, 700);
}

static void build_tree(void) {
  struct tree *tree = NULL;
  for (unsigned i = 0, key = 1; i < 100000; i++, key = key * 1103515245u + 12345u)
    tree = insert(tree, key >> 1);
  kept[0] = (char *)tree;
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (!strcmp(what, "tree")) build_tree();
  for (int i = 0; i < 100000; i++) {
    if (!strcmp(what, "loop")) kept[i] = obtain(200);
    if (!strcmp(what, "main")) kept[i] = i % 30 ? malloc(800) : obtain(800);
    if (!strcmp(what, "wrapped")) kept[i] = i % 2 ? order(i) : user(i);
    if (!strcmp(what, "lines")) kept[i] = two_lines(i);
  }
  return !kept[0];
}
/* SPDX-License-Identifier: MIT */
