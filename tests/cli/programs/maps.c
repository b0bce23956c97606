/* Maps memory and writes to it, and allocates next to nothing. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int main(void) {
  enum { BYTES = 60000000 };
  char *mapped = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return 1;
  memset(mapped, 1, BYTES);
  free(malloc(100));
  return 0;
}
/* SPDX-License-Identifier: MIT */
