/* Pages from the operating system. */
#include "base/metadata.h"

#include <errno.h>
#include <sys/mman.h>

static void *map(size_t bytes, int flags) {
  int saved = errno;
  void *address = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  errno = saved;
  return address == MAP_FAILED ? NULL : address;
}

void *metadata_map(size_t bytes) { return map(bytes, 0); }
void *metadata_reserve(size_t bytes) { return map(bytes, MAP_NORESERVE); }

void metadata_unmap(void *address, size_t bytes) {
  int saved = errno;
  if (address) munmap(address, bytes);
  errno = saved;
}
/* SPDX-License-Identifier: MIT */
