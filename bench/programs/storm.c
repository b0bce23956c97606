/* Threads that allocate and free blocks of mixed sizes, each keeping 256 alive. Usage: storm
 * THREADS MILLIONS */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 256 };

static long rounds;

static void *storm(void *argument) {
  uint64_t random = 88172645463325252u + (uintptr_t)argument;
  char *kept[KEPT] = {0};
  long sum = 0;
  for (long i = 0; i < rounds; i++) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    size_t size = 16 + (random >> 40) % (random % 64 ? 240 : 8000);
    char **slot = &kept[random % KEPT];
    if (*slot) sum += **slot;
    free(*slot);
    *slot = malloc(size);
    if (!*slot) abort();
    **slot = (char)i;
  }
  for (int i = 0; i < KEPT; i++) free(kept[i]);
  return (void *)sum;
}

int main(int argc, char **argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 2;
  rounds = (argc > 2 ? atol(argv[2]) : 10) * 1000000;
  pthread_t thread[64];
  if (threads < 1 || threads > 64) return 2;
  for (int i = 0; i < threads; i++)
    if (pthread_create(&thread[i], NULL, storm, (void *)(intptr_t)i)) return 1;
  for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);
  return 0;
}
/* SPDX-License-Identifier: MIT */
