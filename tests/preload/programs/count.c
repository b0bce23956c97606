/* A preloaded library that counts what Winnow should find at rate 1, independently: calls that made
 * a block or made it larger, the sizes that they gave it, bytes alive at the end. Written to the
 * file COUNT_FILE names when the last exit handler runs.
 *
 * A block is known from its birth to its death by an open-addressing table of addresses, under one
 * spin lock. Blocks born before the C library is set up (by the loader, which has no environment
 * yet) are counted apart, as `early`: Winnow cannot know by then whether it should record. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLOTS = 1 << 20 };
struct slot {
  void *block; /* (void *)1: taken out */
  size_t bytes;
};

extern char **environ;
static struct slot *slots;
static atomic_flag lock = ATOMIC_FLAG_INIT;
static uint64_t births, allocated, alive, live_blocks, early;
static _Thread_local int nested;
static char *path;

static void *(*real_malloc)(size_t), *(*real_calloc)(size_t, size_t), *(*real_realloc)(void *, size_t);
static void *(*real_memalign)(size_t, size_t);
static int (*real_posix_memalign)(void **, size_t, size_t);
static void (*real_free)(void *);

static void finish(int status, void *unused) {
  (void)status, (void)unused;
  char text[200];
  int length =
      snprintf(text, sizeof text, "%lu %lu %lu %lu %lu\n", births, allocated, alive, live_blocks, early);
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (file < 0 || write(file, text, (size_t)length) != length) abort();
  close(file);
}

static void start(void) {
  if (!real_malloc) {
    real_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
    real_calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
    real_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
    real_memalign = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "memalign");
    real_posix_memalign = (int (*)(void **, size_t, size_t))dlsym(RTLD_NEXT, "posix_memalign");
    real_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    slots = mmap(NULL, SLOTS * sizeof *slots, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  if (path || !environ || nested) return;
  nested++;
  path = getenv("COUNT_FILE");
  if (path) {
    /* The program must find the environment that it finds with Winnow: perl keeps a copy of each
     * variable. */
    path = strdup(path);
    unsetenv("COUNT_FILE");
    unsetenv("LD_PRELOAD");
    on_exit(finish, NULL);
  }
  nested--;
}

__attribute__((constructor)) static void start_at_load(void) { start(); }

static struct slot *find(const void *block, int insert) {
  size_t at = (size_t)((uintptr_t)block / 16 * 0x9e3779b97f4a7c15u >> 44);
  for (;; at = (at + 1) % SLOTS) {
    if (slots[at].block == block) return &slots[at];
    if (!slots[at].block || (insert && slots[at].block == (void *)1)) return insert ? &slots[at] : NULL;
  }
}

static void enter(void) {
  while (atomic_flag_test_and_set(&lock)) {}
}
static void leave(void) { atomic_flag_clear(&lock); }

static void *born(void *block, size_t bytes) {
  int saved = errno;
  start();
  if (block && !nested && path) {
    enter();
    *find(block, 1) = (struct slot){block, bytes};
    births++, live_blocks++, allocated += bytes, alive += bytes;
    leave();
  } else if (block && !nested) {
    early++;
  }
  errno = saved;
  return block;
}

/* Forgets a block; its size, or SIZE_MAX if it is not known. */
static size_t died(void *block) {
  size_t bytes = SIZE_MAX;
  enter();
  struct slot *slot = block && slots ? find(block, 0) : NULL;
  if (slot) {
    slot->block = (void *)1;
    bytes = slot->bytes;
    live_blocks--, alive -= bytes;
  }
  leave();
  return bytes;
}

void *malloc(size_t bytes) { return start(), born(real_malloc(bytes), bytes); }
void *calloc(size_t count, size_t bytes) { return start(), born(real_calloc(count, bytes), count * bytes); }
void *memalign(size_t alignment, size_t bytes) {
  return start(), born(real_memalign(alignment, bytes), bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
void *valloc(size_t bytes) { return memalign(4096, bytes); }

int posix_memalign(void **block, size_t alignment, size_t bytes) {
  start();
  int error = real_posix_memalign(block, alignment, bytes);
  if (!error) born(*block, bytes);
  return error;
}

void free(void *block) {
  start();
  if (!nested) died(block);
  real_free(block);
}

void *realloc(void *block, size_t bytes) {
  if (!block) return malloc(bytes);
  start();
  size_t before = died(block);
  void *moved = real_realloc(block, bytes);
  void *now = moved ? moved : bytes ? block : NULL;
  if (before != SIZE_MAX && now) { /* it lives on, with its new size if that was possible */
    size_t after = moved ? bytes : before;
    enter();
    *find(now, 1) = (struct slot){now, after};
    live_blocks++, alive += after;
    if (after > before) births++, allocated += after; /* as if it were a new block */
    leave();
  }
  return moved;
}

void *reallocarray(void *block, size_t count, size_t bytes) {
  size_t total;
  if (__builtin_mul_overflow(count, bytes, &total)) return errno = ENOMEM, NULL;
  return realloc(block, total);
}
/* SPDX-License-Identifier: MIT */
