/* Random calls on random blocks, passed between threads; every byte of each block is checked.
 *   random_blocks THREADS OPERATIONS */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 512 };
struct block {
  size_t bytes;
  unsigned char fill;
  unsigned char byte[];
};
static _Atomic(struct block *) slots[SLOTS];
static long operations;

static uint64_t next(uint64_t *state) {
  *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
  return *state;
}

static void fail(const char *what) {
  fprintf(stderr, "random_blocks: %s\n", what);
  abort();
}

static void check(const struct block *block, size_t bytes) {
  for (size_t i = 0; i < bytes; i++)
    if (block->byte[i] != block->fill) fail("a byte changed");
  if (malloc_usable_size((void *)block) < sizeof *block + block->bytes) fail("usable size too small");
}

static size_t random_bytes(uint64_t *state) {
  uint64_t kind = next(state) % 64;
  return next(state) % (kind == 0 ? 300000 : kind < 4 ? 20000 : kind < 20 ? 1000 : 100);
}

static struct block *birth(uint64_t *state) {
  size_t bytes = random_bytes(state), all = bytes + sizeof(struct block);
  struct block *block = NULL;
  switch (next(state) % 5) {
  case 0: block = malloc(all); break;
  case 1:
    block = calloc(1, all);
    for (size_t i = 0; i < bytes; i++)
      if (block->byte[i]) fail("calloc gave a byte that is not 0");
    break;
  case 2: block = realloc(NULL, all); break;
  case 3: block = aligned_alloc((size_t)16 << next(state) % 10, all); break;
  default:
    if (posix_memalign((void **)&block, (size_t)8 << next(state) % 10, all)) block = NULL;
  }
  if (!block) fail("no memory");
  block->bytes = bytes;
  block->fill = (unsigned char)next(state);
  memset(block->byte, block->fill, bytes);
  return block;
}

static struct block *resize(struct block *block, uint64_t *state) {
  size_t bytes = random_bytes(state), kept = bytes < block->bytes ? bytes : block->bytes;
  block = realloc(block, bytes + sizeof *block);
  if (!block) fail("no memory");
  block->bytes = bytes;
  check(block, kept);
  memset(block->byte, block->fill, bytes);
  return block;
}

static void *work(void *argument) {
  uint64_t state = (uint64_t)(uintptr_t)argument * 2654435761u + 88172645463325252u;
  for (long i = 0; i < operations; i++) {
    _Atomic(struct block *) *slot = &slots[next(&state) % SLOTS];
    struct block *block = atomic_exchange(slot, NULL);
    if (block) check(block, block->bytes);
    if (block && next(&state) % 3) {
      free(block);
      block = NULL;
    } else {
      block = block ? resize(block, &state) : birth(&state);
    }
    block = atomic_exchange(slot, block);
    if (block) check(block, block->bytes);
    free(block);
  }
  return NULL;
}

int main(int argc, char **argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 1;
  operations = argc > 2 ? atol(argv[2]) : 10000;
  pthread_t thread[64];
  for (int i = 0; i < threads; i++)
    if (pthread_create(&thread[i], NULL, work, (void *)(uintptr_t)(i + 1))) fail("no thread");
  for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);
  for (int i = 0; i < SLOTS; i++) {
    if (slots[i]) check(slots[i], slots[i]->bytes);
    free(slots[i]);
  }
  puts("every byte was right");
  return 0;
}
/* SPDX-License-Identifier: MIT */
