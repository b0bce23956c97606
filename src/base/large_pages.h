/* Large pages for large arrays. */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __linux__ /* and not the viewer's engine */
#include <malloc.h>
#include <sys/mman.h>
#endif

enum { LARGE_PAGES_LEAST = 16 << 20, SMALL_PAGE = 4096 };

/* Asks the system for large pages in a large block of malloc's that was not written yet. A report of a
 * large trace is some passes over all of it, and with small pages half of its time was page faults.
 * The range is the whole mapping if the block has one of its own: realloc cannot move a part of a
 * mapping. Returns the block; NULL stays NULL. */
static inline void *large_pages(void *block, size_t bytes) {
#ifdef __linux__
  int saved = errno;
  uintptr_t begin = (uintptr_t)block & -(uintptr_t)SMALL_PAGE;
  if (block && bytes >= LARGE_PAGES_LEAST)
    madvise((void *)begin, (uintptr_t)block + malloc_usable_size(block) - begin, MADV_HUGEPAGE);
  errno = saved;
#else
  (void)bytes;
#endif
  return block;
}
/* SPDX-License-Identifier: MIT */
