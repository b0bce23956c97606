/* A server that frees what it answers, and remembers a little of each request. */
#include <stdlib.h>
#include <string.h>

static void *volatile last;

__attribute__((noinline)) static void remember(size_t bytes) {
  void **session = malloc(bytes);
  if (!session) abort();
  *session = last;
  last = session;
}

__attribute__((noinline)) static void serve(void) {
  for (int i = 0; i < 20; i++) {
    char *volatile answer = malloc(1000);
    if (!answer) abort();
    memset(answer, i, 1000);
    free(answer);
  }
  remember(200);
}

int main(void) {
  for (int i = 0; i < 100000; i++) serve();
  return 0;
}
/* SPDX-License-Identifier: MIT */
