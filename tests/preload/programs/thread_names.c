/* Threads that take a name after their first block. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

static void *volatile kept[20];

static void allocate_for(const char *name, int first) {
  kept[first] = malloc(100);
  pthread_setname_np(pthread_self(), name);
  for (int i = first + 1; i < first + 10; i++) kept[i] = malloc(100);
}

static void *work(void *unused) {
  allocate_for("worker", 0);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
  allocate_for("leader", 10);
  return 0;
}
/* SPDX-License-Identifier: MIT */
