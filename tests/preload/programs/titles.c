/* titles: starts two children; one writes over its arguments, as servers do (some
 * leave a blank at the end), the other names its
 * first thread. */
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile kept[1000];

static void work(void) {
  for (int i = 0; i < 1000; i++) kept[i] = malloc(1000);
}

int main(int argc, char **argv) {
  size_t room = (size_t)(argv[argc - 1] + strlen(argv[argc - 1]) - argv[0]);
  if (!fork()) {
    memset(argv[0], 0, room);
    strncpy(argv[0], "titles: worker /of the first pool ", room);
    work();
    exit(0);
  }
  if (!fork()) {
    prctl(PR_SET_NAME, "second pool");
    work();
    exit(0);
  }
  argv[argc - 1][1] = 0; /* as programs do that take their arguments apart: no title */
  while (wait(NULL) > 0) {}
  return 0;
}
/* SPDX-License-Identifier: MIT */
