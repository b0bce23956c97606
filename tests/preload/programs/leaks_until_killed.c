/* Allocates and frees 8 MB, and then leaks until it is killed; after 1 GiB it gives up. */
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 10000, BLOCKS = (1 << 30) / BLOCK, EARLY = 800 };

static char *kept[BLOCKS];

static char *fill(char *block) {
  if (!block) exit(2);
  return memset(block, 1, BLOCK);
}

__attribute__((noinline)) void use_and_free(void) {
  for (int i = 0; i < EARLY; i++) kept[i] = fill(malloc(BLOCK));
  for (int i = 0; i < EARLY; i++) free(kept[i]);
}

__attribute__((noinline)) void leak(void) {
  for (int i = 0; i < BLOCKS; i++) kept[i] = fill(malloc(BLOCK));
}

int main(void) {
  use_and_free();
  leak();
  return 0;
}
/* SPDX-License-Identifier: MIT */
