/* Makes its trace shorter while the program is recorded into it:  cuts FOLDER empty|shorter
 *
 * A thread that wrote a record just before the cut would be killed by its next one (CUT of
 * trace/chunk_file.h), so all threads rest for a moment around it. */
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, BLOCKS = 20000 };

static pthread_barrier_t before, after;

static void rest(void) { nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL); }

static void allocate(int blocks) {
  for (int i = 0; i < blocks; i++) {
    void *volatile block = malloc(100);
    free(block);
  }
}

static void *run(void *unused) {
  allocate(BLOCKS);
  pthread_barrier_wait(&before);
  pthread_barrier_wait(&after);
  allocate(BLOCKS);
  return unused;
}

int main(int count, char **arguments) {
  pthread_t threads[THREADS];
  char pattern[4096];
  glob_t found;
  if (count != 3) return 2;
  snprintf(pattern, sizeof pattern, "%s/%d.*.trace", arguments[1], (int)getpid());
  if (glob(pattern, 0, NULL, &found) || found.gl_pathc != 1) return 4;
  pthread_barrier_init(&before, NULL, THREADS + 1);
  pthread_barrier_init(&after, NULL, THREADS + 1);
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, run, NULL);
  pthread_barrier_wait(&before);
  if (truncate(found.gl_pathv[0], strcmp(arguments[2], "empty") ? 4096 : 0)) return 3;
  rest();
  allocate(1);
  pthread_barrier_wait(&after);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  puts("alive");
  return 0;
}
/* SPDX-License-Identifier: MIT */
