/* A program that allocates what it is told: a line "alloc COUNT BYTES DEPTH" or "free COUNT" on
 * standard input, each answered by "done". */
#include <stdio.h>
#include <stdlib.h>

enum { KEPT_MOST = 1 << 20 };
static char *kept[KEPT_MOST];
static size_t kept_count;

__attribute__((noinline)) static char *obtain(size_t bytes) {
  char *block = malloc(bytes);
  if (block) *block = 1;
  return block;
}

/* Each depth is another stack. */
__attribute__((noinline)) static char *deeper(size_t depth, size_t bytes) {
  char *block = depth ? deeper(depth - 1, bytes) : obtain(bytes);
  if (block) *block = 2;
  return block;
}

int main(void) {
  char line[80];
  size_t count, bytes, depth;
  while (fgets(line, sizeof line, stdin)) {
    if (sscanf(line, "alloc %zu %zu %zu", &count, &bytes, &depth) == 3)
      while (count-- && kept_count < KEPT_MOST) kept[kept_count++] = deeper(depth, bytes);
    else if (sscanf(line, "free %zu", &count) == 1)
      while (count-- && kept_count) free(kept[--kept_count]);
    puts("done");
    fflush(stdout);
  }
  return 0;
}
/* SPDX-License-Identifier: MIT */
