/* Touches 64 MB of a gigabyte that it might write to, and allocates a little long enough to be
 * measured then. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { TOUCHED = 64 << 20, RESERVED = 1 << 30 };

int main(void) {
  char *reserved =
      mmap(NULL, RESERVED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return 2;
  memset(reserved, 1, TOUCHED);
  for (int i = 0; i < 50; i++) {
    char *block = malloc(1000);
    if (!block) return 3;
    block[0] = 1;
    free(block);
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
  }
  return 0;
}
/* SPDX-License-Identifier: MIT */
