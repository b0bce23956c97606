/* The pages that Winnow holds, for tests of what is left behind.
 *
 * The program is linked with `--wrap`, so all that Winnow maps and unmaps comes by here, and
 * nothing else does. What /proc/self/maps tells is no use: sanitizers keep some pages for each
 * thread that ever was (AddressSanitizer its LowLevelAllocator's), and the C library keeps
 * stacks. */
#ifndef TESTS_GC_PAGES_HELD_H
#define TESTS_GC_PAGES_HELD_H

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/types.h>

static _Atomic(long) pages_held;

static long pages(size_t bytes) { return (long)((bytes + 4095) / 4096); }

void *__real_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset);
int __real_munmap(void *address, size_t bytes);
void *__wrap_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset);
int __wrap_munmap(void *address, size_t bytes);

void *__wrap_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset) {
  void *at = __real_mmap(address, bytes, protection, flags, file, offset);
  if (at != MAP_FAILED) atomic_fetch_add(&pages_held, pages(bytes));
  return at;
}

int __wrap_munmap(void *address, size_t bytes) {
  int result = __real_munmap(address, bytes);
  if (!result) atomic_fetch_sub(&pages_held, pages(bytes));
  return result;
}

#endif
/* SPDX-License-Identifier: MIT */
