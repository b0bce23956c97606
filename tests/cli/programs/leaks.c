/* A server that frees what it answers, and remembers a little of each request: so many bytes. */
#include <stdlib.h>
#include <string.h>

static void *volatile last;

__attribute__((noinline)) static void remember(size_t bytes) {
  void **session = malloc(bytes);
  if (!session) abort();
  *session = last;
  last = session;
}

__attribute__((noinline)) static void serve(size_t bytes) {
  for (int i = 0; i < 20; i++) {
    char *volatile answer = malloc(1000);
    if (!answer) abort();
    memset(answer, i, 1000);
    free(answer);
  }
  remember(bytes);
}

int main(int argc, char **argv) {
  size_t bytes = argc > 1 ? (size_t)atoi(argv[1]) : 200;
  for (int i = 0; i < 100000; i++) serve(bytes);
  return 0;
}
/* SPDX-License-Identifier: MIT */
