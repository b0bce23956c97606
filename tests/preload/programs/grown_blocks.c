/* Frees and grows blocks of each entry point by other entry points: all must be one allocator's. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t grown;

/* By turns with realloc and reallocarray, and freed by each form of free that there is. */
static void grow_and_free(void *block, size_t bytes) {
  void (*old)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, "cfree");
  void (*sized)(void *, size_t) = (void (*)(void *, size_t))dlsym(RTLD_DEFAULT, "free_sized");
  memset(block, 7, bytes);
  for (int i = 0; i < 6; i++) {
    bytes *= 2;
    block = i % 2 ? realloc(block, bytes) : reallocarray(block, bytes / 2, 2);
    memset(block, 7, bytes);
    grown += malloc_usable_size(block) >= bytes;
  }
  if (old && bytes % 3 == 0)
    old(block);
  else if (sized && bytes % 3 == 1)
    sized(block, bytes);
  else
    free(block);
}

int main(void) {
  for (size_t bytes = 1; bytes < 4000; bytes++) {
    void *aligned;
    grow_and_free(malloc(bytes), bytes);
    grow_and_free(reallocarray(NULL, bytes, 1), bytes);
    grow_and_free(valloc(bytes), bytes);
    grow_and_free(memalign(64, bytes), bytes);
    grow_and_free(strdup("a text"), 7);
    if (!posix_memalign(&aligned, 64, bytes)) grow_and_free(aligned, bytes);
  }
  printf("grown %zu\n", grown);
  return 0;
}
/* SPDX-License-Identifier: MIT */
