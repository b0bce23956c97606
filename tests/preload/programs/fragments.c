/* Keeps 20000 blocks of 64 bytes, each between blocks of 1000 bytes, which it frees: what was freed
 * stays resident. fragments threads: the same in each of four threads. fragments
 * unwritten: and has 30 MB that it never writes. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 20000, THREADS = 4, UNWRITTEN = 30 << 20 };

static void *volatile kept;
static void *volatile unwritten;

static void *fragment(void *unused) {
  void **keep = malloc(BLOCKS * sizeof *keep), **gone = malloc(BLOCKS * sizeof *gone);
  for (int i = 0; i < BLOCKS; i++) {
    keep[i] = memset(malloc(64), 1, 64);
    gone[i] = memset(malloc(1000), 1, 1000);
  }
  for (int i = 0; i < BLOCKS; i++) free(gone[i]);
  free(gone);
  kept = keep;
  return unused;
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  pthread_t thread[THREADS];
  if (!strcmp(how, "unwritten")) unwritten = malloc(UNWRITTEN);
  if (strcmp(how, "threads")) {
    fragment(NULL);
    return 0;
  }
  for (int i = 0; i < THREADS; i++)
    if (pthread_create(&thread[i], NULL, fragment, NULL)) return 1;
  for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
  return 0;
}
/* SPDX-License-Identifier: MIT */
