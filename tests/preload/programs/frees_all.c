/* Fills blocks of 1 MB, frees them all, and prints how many bytes are resident then. With an
 * argument, it does so twice and then allocates only small blocks for three seconds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCKS = 62, BYTES = 1000000 };

static void fill_and_free(void) {
  static char *blocks[BLOCKS];
  for (int i = 0; i < BLOCKS; i++) memset(blocks[i] = malloc(BYTES), 1, BYTES);
  for (int i = 0; i < BLOCKS; i++) free(blocks[i]);
}

int main(int count, char **arguments) {
  (void)arguments;
  char text[200] = "";
  long all, resident;
  fill_and_free();
  if (count > 1) {
    fill_and_free();
    for (int i = 0; i < 30; i++) {
      for (int j = 0; j < 1000; j++) free(malloc(1000));
      usleep(100000);
    }
  }
  FILE *file = fopen("/proc/self/statm", "r");
  fgets(text, sizeof text, file);
  sscanf(text, "%ld %ld", &all, &resident);
  printf("%ld\n", resident * sysconf(_SC_PAGESIZE));
  return 0;
}
/* SPDX-License-Identifier: MIT */
