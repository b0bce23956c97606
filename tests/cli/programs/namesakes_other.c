/* The other file of namesakes.c. */
#include "../programs/namesakes.h"

static char *kept[2000];

__attribute__((noinline)) static char *grow(size_t bytes) { return memset(malloc(bytes), 2, bytes); }

void fill_other(void) {
  for (int i = 0; i < 1000; i++) kept[2 * i] = grow(500), kept[2 * i + 1] = keep(1000);
}
/* SPDX-License-Identifier: MIT */
