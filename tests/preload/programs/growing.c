/* One block that grows 20 times, is never freed; and one that shrinks, and one freed by realloc to
 * zero. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *kept;

__attribute__((noinline)) void grow_a_block(void) {
  kept = malloc(100);
  for (size_t i = 2; i <= 21; i++) {
    kept = realloc(kept, i * i * 100);
    memset(kept, (int)i, i * i * 100);
  }
}

__attribute__((noinline)) void shrink_a_block(void) {
  char *block = malloc(100000);
  block = realloc(block, 50000);
  block = realloc(block, 1000);
  free(block);
}

__attribute__((noinline)) void free_by_realloc(void) {
  char *volatile block = malloc(3000);
  block = realloc(block, 0);
  if (block) free(block);
}

int main(void) {
  grow_a_block();
  shrink_a_block();
  free_by_realloc();
  printf("%d\n", kept[44099]);
  return 0;
}
/* SPDX-License-Identifier: MIT */
