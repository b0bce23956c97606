/* How much data the process has, as the kernel counts it, and whether malloc still works under a
 * limit on that. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static void allocate_all_sizes(void) {
  for (size_t bytes = 1; bytes < (size_t)100 << 20; bytes = bytes * 3 / 2 + 1) {
    char *block = malloc(bytes);
    if (!block) exit(2);
    memset(block, 1, bytes);
    free(block);
  }
}

static void grow_a_block(void) {
  char *block = NULL;
  for (size_t bytes = 1000; bytes < (size_t)200 << 20; bytes += bytes / 3) {
    char *grown = realloc(block, bytes);
    if (!grown) exit(3);
    block = grown;
    block[bytes - 1] = 1;
  }
  free(block);
}

int main(void) {
  struct rlimit limit = {(rlim_t)4 << 30, (rlim_t)4 << 30};
  char line[256];
  FILE *status = fopen("/proc/self/status", "r");
  while (fgets(line, sizeof line, status))
    if (!strncmp(line, "VmData:", 7)) printf("%ld\n", strtol(line + 7, NULL, 10));
  fclose(status);
  if (setrlimit(RLIMIT_DATA, &limit)) return 4;
  allocate_all_sizes();
  grow_a_block();
  return 0;
}
/* SPDX-License-Identifier: MIT */
