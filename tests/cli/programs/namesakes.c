/* A program of two files, each with a function `grow` of its own. */
#include "namesakes.h"

static char *kept[2000];

__attribute__((noinline)) static char *grow(size_t bytes) { return memset(malloc(bytes), 1, bytes); }

int main(void) {
  for (int i = 0; i < 1000; i++) kept[2 * i] = grow(1000), kept[2 * i + 1] = keep(1000);
  fill_other();
  return 0;
}
/* SPDX-License-Identifier: MIT */
