/* Names its thread and itself once, then allocates OPERATIONS times, and is killed. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

int main(int argc, char **argv) {
  static void *volatile kept[100];
  long operations = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
  size_t room = (size_t)(argv[argc - 1] + strlen(argv[argc - 1]) - argv[0]);
  memset(argv[0], 0, room);
  strncpy(argv[0], "named once", room);
  prctl(PR_SET_NAME, "the first");
  for (long i = 0; i < operations; i++) {
    free(kept[i % 100]);
    kept[i % 100] = malloc(100);
  }
  raise(SIGKILL);
}
/* SPDX-License-Identifier: MIT */
