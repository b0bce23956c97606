/* A program whose history, one buffer, grows by equal steps, beside a cache that is filled at the start, a log
 * that is filled and emptied, and an index that doubles. */
#include <stdlib.h>
#include <string.h>

enum { STEPS = 200, PIECE = 8000, CACHED = 40, ENTRY = 75000 };

static char *history, *log_text, *index_of, *cache[CACHED];

static char *used(char *block, size_t bytes) {
  if (!block) abort();
  memset(block, 1, bytes);
  return block;
}

__attribute__((noinline)) static void fills_cache(void) {
  for (int i = 0; i < CACHED; i++) cache[i] = used(malloc(ENTRY), ENTRY);
}

__attribute__((noinline)) static void appends_history(size_t step) {
  size_t bytes = (step + 1) * PIECE;
  history = used(realloc(history, bytes), bytes);
}

__attribute__((noinline)) static void writes_log(size_t step) {
  size_t bytes = (step % 20 + 1) * PIECE;
  log_text = used(realloc(log_text, bytes), bytes);
}

__attribute__((noinline)) static void doubles_index(size_t entries) {
  size_t bytes = entries * 4000;
  index_of = used(realloc(index_of, bytes), bytes);
}

int main(void) {
  fills_cache();
  for (size_t step = 0; step < STEPS; step++) {
    appends_history(step);
    writes_log(step);
    if (!(step & (step + 1))) doubles_index(step + 1);
  }
  return 0;
}
/* SPDX-License-Identifier: MIT */
