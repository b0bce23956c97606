/* threads KIND: 10,000 short threads (many), 64 at once (storm), thread-local destructors (keys),
 * threads that are cancelled while they allocate (cancel). */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *short_life(void *argument) {
  char *mine = malloc(100 + (uintptr_t)argument % 1000);
  mine[0] = 1;
  free(argument ? malloc(50) : NULL);
  return mine;
}

static void many(void) {
  for (int i = 0; i < 10000 / 8; i++) {
    pthread_t thread[8];
    for (int k = 0; k < 8; k++)
      if (pthread_create(&thread[k], NULL, short_life, (void *)(uintptr_t)(i * 8 + k))) abort();
    for (int k = 0; k < 8; k++) {
      void *block;
      pthread_join(thread[k], &block);
      free(block);
    }
  }
  puts("10000 threads");
}

enum { EXCHANGED = 1024 };
static _Atomic(void *) exchange[EXCHANGED];

static void *exchange_blocks(void *argument) {
  unsigned state = (unsigned)(uintptr_t)argument;
  for (int i = 0; i < 20000; i++) {
    state = state * 1103515245 + 12345;
    size_t bytes = (state >> 8) % 1000 * ((state >> 20) % 16 == 0 ? 100 : 1);
    char *block = malloc(bytes + 1);
    block[bytes] = 1;
    free(atomic_exchange(&exchange[(state >> 16) % EXCHANGED], block));
  }
  return NULL;
}

static void storm(void) {
  pthread_t thread[64];
  for (uintptr_t i = 0; i < 64; i++)
    if (pthread_create(&thread[i], NULL, exchange_blocks, (void *)(i + 1))) abort();
  for (int i = 0; i < 64; i++) pthread_join(thread[i], NULL);
  for (int i = 0; i < EXCHANGED; i++) free(exchange[i]);
  puts("64 threads");
}

static pthread_key_t key[3];
static atomic_int destroyed;

static void destroy(void *value) {
  int rounds = *(int *)value;
  free(value);
  free(malloc(333));
  atomic_fetch_add(&destroyed, 1);
  if (rounds < 3) { /* comes again: keys are destroyed in up to four rounds */
    int *again = malloc(sizeof *again);
    *again = rounds + 1;
    pthread_setspecific(key[rounds % 3], again);
  }
}

static void *with_keys(void *argument) {
  for (int i = 0; i < 3; i++) {
    int *value = malloc(sizeof *value);
    *value = i;
    pthread_setspecific(key[i], value);
  }
  return argument;
}

static void keys(void) {
  for (int i = 0; i < 3; i++) pthread_key_create(&key[i], destroy);
  for (int i = 0; i < 500; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, with_keys, NULL);
    pthread_join(thread, NULL);
  }
  printf("destructors ran %d times\n", atomic_load(&destroyed));
}

static atomic_int left_by_cleanup, inside;

static void clean_up(void *argument) {
  if (*(volatile int *)argument) atomic_fetch_add(&inside, 1);
  atomic_fetch_add(&left_by_cleanup, 1);
}

static void *allocate_for_ever(void *argument) {
  volatile int in_malloc = 0;
  pthread_cleanup_push(clean_up, (void *)&in_malloc);
  for (size_t i = 1;; i++) {
    in_malloc = 1;
    void *volatile block = malloc(i % 5000);
    block = realloc(block, i % 7000 + 1);
    free(block);
    in_malloc = 0;
    if (i % 64 == 0) pthread_testcancel();
  }
  pthread_cleanup_pop(0);
  return argument;
}

static void cancel(void) {
  for (int i = 0; i < 300; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, allocate_for_ever, NULL);
    usleep((useconds_t)(i * 7));
    pthread_cancel(thread);
    pthread_join(thread, NULL);
  }
  printf("cancelled %d, inside an allocation %d\n", atomic_load(&left_by_cleanup) <= 300,
         atomic_load(&inside));
}

int main(int argc, char **argv) {
  const char *kind = argc > 1 ? argv[1] : "";
  if (!strcmp(kind, "many")) many();
  if (!strcmp(kind, "storm")) storm();
  if (!strcmp(kind, "keys")) keys();
  if (!strcmp(kind, "cancel")) cancel();
  return 0;
}
/* SPDX-License-Identifier: MIT */
