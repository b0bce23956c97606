/* Keeps nearly all that it allocates, and frees it only at its end. */
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 3000, SIZE = 4000 };

static char *blocks[BLOCKS];

__attribute__((noinline)) char *keep(void) { return memset(malloc(SIZE), 1, SIZE); }

/* Takes processor time. */
static unsigned work(unsigned number) {
  for (int i = 0; i < 100000; i++) number = number * 1664525 + 1013904223;
  return number;
}

int main(void) {
  unsigned number = 1;
  for (int i = 0; i < BLOCKS; i++) {
    blocks[i] = keep();
    number = work(number);
  }
  for (int i = 0; i < BLOCKS; i++) free(blocks[i]);
  return number == 0;
}
/* SPDX-License-Identifier: MIT */
