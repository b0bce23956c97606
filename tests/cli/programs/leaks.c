/* A server that frees what it answers, and remembers a little of each request: so many bytes, after so
 * many percent of the requests; and it may log so many bytes of each. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void *volatile last;

__attribute__((noinline)) static void remember(size_t bytes) {
  void **session = malloc(bytes);
  if (!session) abort();
  *session = last;
  last = session;
}

__attribute__((noinline)) static void log_request(size_t bytes) {
  void **line = malloc(bytes);
  if (!line) abort();
  *line = last;
  last = line;
}

__attribute__((noinline)) static void serve(size_t bytes, bool remembers, size_t logged) {
  for (int i = 0; i < 20; i++) {
    char *volatile answer = malloc(1000);
    if (!answer) abort();
    memset(answer, i, 1000);
    free(answer);
  }
  if (remembers) remember(bytes);
  if (logged) log_request(logged);
}

int main(int argc, char **argv) {
  enum { REQUESTS = 100000 };
  size_t bytes = argc > 1 ? (size_t)atoi(argv[1]) : 200;
  int percent = argc > 2 ? atoi(argv[2]) : 0;
  size_t logged = argc > 3 ? (size_t)atoi(argv[3]) : 0;
  for (int i = 0; i < REQUESTS; i++) serve(bytes, i >= REQUESTS / 100 * percent, logged);
  return 0;
}
/* SPDX-License-Identifier: MIT */
