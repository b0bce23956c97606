/* Names its thread and itself once and maps 8 MB, then allocates OPERATIONS times, and is
 * killed. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

int main(int argc, char **argv) {
  static void *volatile kept[100];
  long operations = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
  size_t room = (size_t)(argv[argc - 1] + strlen(argv[argc - 1]) - argv[0]);
  memset(argv[0], 0, room);
  strncpy(argv[0], "named once", room);
  prctl(PR_SET_NAME, "the first");
  size_t bytes = (size_t)8 << 20;
  memset(mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1, bytes);
  for (long i = 0; i < operations; i++) {
    free(kept[i % 100]);
    kept[i % 100] = malloc(100);
  }
  raise(SIGKILL);
}
/* SPDX-License-Identifier: MIT */
