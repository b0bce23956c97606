/* locks MEBIBYTES: locks its memory in all ways, without privileges and with so much to lock. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static char data[100000];

/* Whether the page of an address is locked, by /proc/self/smaps. */
static int is_locked(const void *address) {
  char line[512];
  FILE *file = fopen("/proc/self/smaps", "r");
  unsigned long begin, end;
  int here = 0, locked = -1;
  while (fgets(line, sizeof line, file)) {
    if (sscanf(line, "%lx-%lx ", &begin, &end) == 2) here = (unsigned long)address - begin < end - begin;
    if (here && !strncmp(line, "VmFlags:", 8)) locked = strstr(line, " lo") != NULL;
  }
  fclose(file);
  return locked;
}

static void lock(const char *name, int flags) {
  errno = 0;
  int result = mlockall(flags), error = errno;
  void *volatile block = malloc(100);
  printf("%s: %d %s, data %d, stack %d, code %d\n", name, result, strerror(error), is_locked(data),
         is_locked((const void *)&block), is_locked((const void *)lock));
  free(block);
  munlockall();
}

int main(int argc, char **argv) {
  rlim_t bytes = (rlim_t)atoi(argv[1]) << 20;
  struct rlimit limit = {bytes, bytes};
  setrlimit(RLIMIT_MEMLOCK, &limit);
  if (!getuid() && setuid(65534)) return 77;
  memset(data, 1, sizeof data);
  lock("current", MCL_CURRENT);
  lock("both", MCL_CURRENT | MCL_FUTURE);
  lock("wrong", 1 << 20);
  return 0;
}
/* SPDX-License-Identifier: MIT */
