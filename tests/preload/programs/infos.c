/* Prints whether mallinfo and mallinfo2 count what the program has: 1 if they are within 1 % of it.
 * glibc counts freed blocks that it keeps for a thread: to be run with
 * GLIBC_TUNABLES=glibc.malloc.tcache_count=0. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 3000 };

static void *block[BLOCKS];
static size_t bytes[BLOCKS], before, before_small;

static size_t in_use(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

static size_t in_use_small(void) {
  struct mallinfo info = mallinfo();
  return (size_t)info.uordblks + (size_t)info.hblkhd;
}

/* What a block takes, with its header. */
static size_t chunk_of(size_t size) { return size <= 24 ? 32 : (size + 23) & ~(size_t)15; }

static int near(size_t found, size_t expected) {
  size_t most = expected / 100 + 1000; /* stdio's buffers and the like */
  return found <= expected + most && found + most >= expected;
}

static void check(const char *after) {
  size_t expected = 0;
  for (int i = 0; i < BLOCKS; i++)
    if (block[i]) expected += chunk_of(bytes[i]);
  printf("%s: %d\n", after, near(in_use() - before, expected));
  printf("%s, in ints: %d\n", after, near(in_use_small() - before_small, expected));
}

static void resize(int i, size_t size) {
  block[i] = realloc(block[i], size);
  bytes[i] = size;
}

int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0);
  mallopt(M_MXFAST, 0);
  mallopt(M_MMAP_THRESHOLD, 1 << 30); /* or else glibc maps the largest with whole pages */
  before = in_use();
  before_small = in_use_small();
  for (int i = 0; i < BLOCKS; i++) resize(i, (size_t)(i % 50 * 40 + 1));
  check("after malloc");
  for (int i = 0; i < BLOCKS; i += 2) resize(i, 3 * bytes[i]);
  check("after growth");
  for (int i = 0; i < BLOCKS; i += 3) resize(i, bytes[i] / 4 + 1);
  check("after shrinking");
  for (int i = 0; i < 100; i++) resize(i, 100000 + (size_t)i);
  check("of large ones");
  for (int i = 0; i < BLOCKS; i += 2) free(block[i]), block[i] = NULL;
  check("after free");
  return 0;
}
/* SPDX-License-Identifier: MIT */
