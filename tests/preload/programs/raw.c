/* A library for Python that replaces the functions to which its allocator passes large requests,
 * by functions that end the program if they are passed a block of others. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct functions {
  void *context;
  void *(*malloc)(void *context, size_t bytes);
  void *(*calloc)(void *context, size_t count, size_t bytes);
  void *(*realloc)(void *context, void *block, size_t bytes);
  void (*free)(void *context, void *block);
};

extern void PyMem_SetAllocator(int domain, struct functions *functions) __attribute__((weak));

enum { BEFORE = 16 };
static const uint64_t mark = 0x5241572d424c4f43;

static void *marked(char *block) {
  if (!block) return NULL;
  memcpy(block, &mark, sizeof mark);
  return block + BEFORE;
}

static void *whole(void *block) {
  char *begin = block ? (char *)block - BEFORE : NULL;
  if (begin && memcmp(begin, &mark, sizeof mark)) abort();
  return begin;
}

static void *raw_malloc(void *context, size_t bytes) { return marked(malloc(bytes + BEFORE)); }
static void *raw_calloc(void *context, size_t count, size_t bytes) {
  return marked(calloc(1, count * bytes + BEFORE));
}
static void *raw_realloc(void *context, void *block, size_t bytes) {
  return marked(realloc(whole(block), bytes + BEFORE));
}
static void raw_free(void *context, void *block) { free(whole(block)); }

static __attribute__((constructor)) void replace(void) {
  struct functions functions = {NULL, raw_malloc, raw_calloc, raw_realloc, raw_free};
  if (PyMem_SetAllocator) PyMem_SetAllocator(0, &functions);
}
/* SPDX-License-Identifier: MIT */
