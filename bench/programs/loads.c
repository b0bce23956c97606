/* Loads whose allocation changes: loads storm|server|bursts|idle MILLIONS. Two threads do so many
 * million steps in all. A step of a storm allocates and frees; a server computes between its
 * blocks, by turns little and much; bursts allocate in one step of 1,000 for 4 million steps, and
 * then in each of as many; an idle service computes and allocates in each, and sleeps for 2 ms
 * after each REQUEST of them. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 2, KEPT = 256, LENGTH = 4000000, REQUEST = 200 };

static const char *load;
static long steps;

static uint64_t compute(uint64_t value, int rounds) {
  for (int i = 0; i < rounds; i++) value = (value ^ value >> 29) * 0xbf58476d1ce4e5b9u;
  return value;
}

/* How many rounds of computing stand before the step's block; negative: it has no block. */
static int before_block(long step) {
  if (*load == 's' && load[1] == 't') return 0;
  if (*load == 'i') return 200;
  if (*load == 's') return step / LENGTH % 2 ? 20 : 200;
  return step / LENGTH % 2 || step % 1000 == 0 ? 0 : -20;
}

static void *work(void *argument) {
  uint64_t random = 88172645463325252u + (uintptr_t)argument;
  char *kept[KEPT] = {0};
  for (long i = 0; i < steps; i++) {
    int rounds = before_block(i);
    random = compute(random, rounds < 0 ? -rounds : rounds + 1);
    if (rounds < 0) continue;
    char **slot = &kept[random % KEPT];
    free(*slot);
    *slot = malloc(16 + (random >> 40) % 240);
    if (!*slot) abort();
    **slot = (char)i;
    if (*load == 'i' && i % REQUEST == 0) usleep(2000);
  }
  for (int i = 0; i < KEPT; i++) free(kept[i]);
  return (void *)(uintptr_t)random;
}

int main(int argc, char **argv) {
  pthread_t thread[THREADS];
  if (argc != 3) return 2;
  load = argv[1];
  steps = atol(argv[2]) * 1000000 / THREADS;
  for (int i = 0; i < THREADS; i++)
    if (pthread_create(&thread[i], NULL, work, (void *)(intptr_t)i)) return 1;
  for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
  return 0;
}
/* SPDX-License-Identifier: MIT */
