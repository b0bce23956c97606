/* Threads allocate while the first one asks by the control file, again and again, for sampling and for none.
 *
 *   toggles CONTROL THREADS ROUNDS
 *
 * In a round each thread allocates and frees BLOCKS blocks of SAMPLED_BYTES while every block is
 * sampled, and as many of OTHER_BYTES while none is. Before each half, while the others wait, the
 * first thread asks and allocates until the request is done. A thread may go on at the old rate
 * until it has used up its count, so it begins each half by WARM_BYTES. With ROUNDS negative, the
 * threads do not wait for each other and allocate FREE_BYTES. */
#include "trace/control.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BLOCKS = 3, SAMPLED_BYTES = 72, OTHER_BYTES = 104, WARM_BYTES = 600000, FREE_BYTES = 40 };

static struct control_page *page;
static pthread_barrier_t barrier;
static int rounds;
static _Atomic(bool) over;

static void allocate(size_t bytes) {
  void *volatile block = malloc(bytes);
  free(block);
}

static void ask(double rate) {
  uint64_t number = atomic_load(&page->asked) + 1;
  atomic_store(&page->of[number % 2].rate, rate);
  atomic_store(&page->asked, number);
  while (atomic_load(&page->done) < number) allocate(1000);
}

static void half(bool first, double rate, size_t bytes) {
  pthread_barrier_wait(&barrier);
  if (first) ask(rate);
  pthread_barrier_wait(&barrier);
  allocate(WARM_BYTES);
  for (int i = 0; i < BLOCKS; i++) allocate(bytes);
}

static void *work(void *first) {
  for (int i = 0; i < rounds; i++) {
    half(first, 1, SAMPLED_BYTES);
    half(first, 0, OTHER_BYTES);
  }
  return NULL;
}

static void *storm(void *unused) {
  while (!atomic_load(&over)) allocate(FREE_BYTES);
  return unused;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  int descriptor = open(argv[1], O_RDWR), threads = atoi(argv[2]);
  page = mmap(NULL, CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (descriptor < 0 || page == MAP_FAILED) return perror(argv[1]), 1;
  rounds = atoi(argv[3]);
  bool free_running = rounds < 0;
  pthread_t *others = malloc((size_t)threads * sizeof *others);
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
  for (int i = 1; i < threads; i++)
    if (pthread_create(&others[i], NULL, free_running ? storm : work, NULL)) return 1;
  if (free_running)
    for (int i = 0; i < -rounds; i++) ask(i % 2 ? 1 : 0);
  else
    work(&barrier);
  atomic_store(&over, true);
  for (int i = 1; i < threads; i++) pthread_join(others[i], NULL);
  ask(0);
  free(others);
  return 0;
}
/* SPDX-License-Identifier: MIT */
