/* Prints what odd calls of every C entry point give: with Winnow the output must be the same as
 * without. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int serial;

/* A block as far as it may be told: its address differs from run to run. */
static void show(const char *call, void *block, size_t bytes, size_t alignment) {
  int error = errno;
  printf("%3d %-34s %s errno %d", ++serial, call, block ? "block" : "NULL", error);
  if (block)
    printf(" aligned %d usable %d", (uintptr_t)block % alignment == 0, malloc_usable_size(block) >= bytes);
  putchar('\n');
}

#define SHOW(call, bytes, alignment)         \
  do {                                       \
    errno = 77;                              \
    void *block_ = call;                     \
    show(#call, block_, bytes, alignment);   \
    if (block_) memset(block_, 0xa5, bytes); \
    free(block_);                            \
  } while (0)

static volatile size_t huge = PTRDIFF_MAX, top = SIZE_MAX, none = 0;

static void plain_calls(void) {
  SHOW(malloc(none), 0, 16);
  SHOW(malloc(1), 1, 16);
  SHOW(malloc(100000), 100000, 16);
  SHOW(malloc(10000000), 10000000, 16);
  SHOW(malloc(huge), 0, 16);
  SHOW(malloc(huge + 1), 0, 16);
  SHOW(malloc(top), 0, 16);
  SHOW(malloc(top - 15), 0, 16);
  SHOW(malloc((size_t)1 << 46), 0, 16);
  SHOW(malloc((size_t)1 << 43), 0, 16);
  SHOW(calloc(none, none), 0, 16);
  SHOW(calloc(none, 10), 0, 16);
  SHOW(calloc(10, 10), 100, 16);
  SHOW(calloc(huge, 3), 0, 16);
  SHOW(calloc(top / 2 + 1, 2), 0, 16);
  SHOW(calloc(1, huge), 0, 16);
}

static void realloc_calls(void) {
  SHOW(realloc(NULL, none), 0, 16);
  SHOW(realloc(NULL, 50), 50, 16);
  SHOW(realloc(malloc(50), 5000), 5000, 16);
  SHOW(realloc(malloc(5000), 50), 50, 16);
  SHOW(realloc(malloc(5000), none), 0, 16);
  SHOW(realloc(malloc(1000000), 3000000), 3000000, 16);
  SHOW(realloc(NULL, huge), 0, 16);
  SHOW(reallocarray(NULL, 10, 10), 100, 16);
  SHOW(reallocarray(NULL, huge, 4), 0, 16);
  SHOW(reallocarray(NULL, none, 4), 0, 16);
  SHOW(reallocarray(malloc(10), 100, 100), 10000, 16);
  static volatile size_t too_large[] = {PTRDIFF_MAX, SIZE_MAX, (size_t)1 << 46, (size_t)1 << 43};
  for (int i = 0; i < 4; i++) {
    char *kept = malloc(40);
    strcpy(kept, "still there");
    errno = 77;
    void *moved = realloc(kept, too_large[i]);
    printf("realloc too large: %s errno %d: %s\n", moved ? "block" : "NULL", errno, kept);
    free(kept);
  }
}

static void aligned_calls(void) {
  static const size_t alignments[] = {1, 2, 4, 8, 16, 24, 32, 64, 100, 4096, 65536, 1 << 20};
  for (unsigned i = 0; i < sizeof alignments / sizeof *alignments; i++) {
    size_t a = alignments[i], power = 1;
    while (power < a) power *= 2;
    printf("alignment %zu\n", a);
    SHOW(memalign(a, 100), 100, power);
    SHOW(memalign(a, 20000), 20000, power);
    SHOW(memalign(a, none), 0, power);
    SHOW(aligned_alloc(a, 3 * a), 3 * a, power);
    SHOW(aligned_alloc(a, 5), 5, power);
    void *block = &serial;
    errno = 77;
    int error = posix_memalign(&block, a, 100);
    printf("posix_memalign %zu: %d errno %d kept %d aligned %d\n", a, error, errno, block == &serial,
           error ? -1 : (uintptr_t)block % a == 0);
    if (!error) free(block);
  }
  void *block = &serial;
  printf("posix_memalign 0: %d\n", posix_memalign(&block, none, 100));
  int error = posix_memalign(&block, 64, huge);
  printf("posix_memalign huge: %d kept %d\n", error, block == &serial);
  SHOW(memalign(none, 10), 10, 1);
  SHOW(memalign(huge, 10), 0, 1);
  SHOW(memalign(64, huge), 0, 64);
  SHOW(memalign(top, 1), 0, 1);
  SHOW(aligned_alloc(none, 10), 10, 1);
  SHOW(valloc(none), 0, 4096);
  SHOW(valloc(100), 100, 4096);
  SHOW(valloc(huge), 0, 4096);
  SHOW(pvalloc(none), 0, 4096);
  SHOW(pvalloc(100), 4096, 4096);
  SHOW(pvalloc(4097), 8192, 4096);
  SHOW(pvalloc(top), 0, 4096);
}

static void grown_aligned_block_keeps_its_contents(void) {
  for (size_t a = 32; a <= 1 << 20; a *= 8) {
    char *block = memalign(a, 3000);
    memset(block, 7, 3000);
    block = realloc(block, 100000);
    int sum = 0;
    for (int i = 0; i < 3000; i++) sum += block[i];
    printf("contents after realloc: %d\n", sum);
    free(block);
  }
}

static void calloc_is_zero_in_used_memory(void) {
  size_t dirty = 0;
  for (size_t bytes = 8; bytes < 300000; bytes = bytes * 3 / 2) {
    for (int round = 0; round < 3; round++) {
      char *block = calloc(1, bytes);
      for (size_t i = 0; i < bytes; i++) dirty += block[i] != 0;
      memset(block, 0xff, bytes);
      free(block);
    }
  }
  printf("dirty bytes from calloc: %zu\n", dirty);
}

/* Not in glibc, or gone from its headers. Only Winnow has the C23 ones, so their presence is not
 * printed. */
static void forms_of_free(void) {
  void (*old)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, "cfree");
  void (*sized)(void *, size_t) = (void (*)(void *, size_t))dlsym(RTLD_DEFAULT, "free_sized");
  void (*aligned)(void *, size_t, size_t) =
      (void (*)(void *, size_t, size_t))dlsym(RTLD_DEFAULT, "free_aligned_sized");
  void *block[3] = {malloc(10), malloc(20), aligned_alloc(64, 128)};
  errno = 77;
  if (old)
    old(block[0]), old(NULL);
  else
    free(block[0]);
  if (sized)
    sized(block[1], 20), sized(NULL, 0);
  else
    free(block[1]);
  if (aligned)
    aligned(block[2], 64, 128), aligned(NULL, 64, 0);
  else
    free(block[2]);
  free(NULL);
  printf("frees keep errno: %d; usable size of NULL: %zu\n", errno, malloc_usable_size(NULL));
}

int main(void) {
  plain_calls();
  realloc_calls();
  aligned_calls();
  grown_aligned_block_keeps_its_contents();
  calloc_is_zero_in_used_memory();
  forms_of_free();
  return 0;
}
/* SPDX-License-Identifier: MIT */
