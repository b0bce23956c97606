/* Pages from the operating system. */
#include "base/metadata.h"

#include <errno.h>
#include <sys/mman.h>

static void *map(size_t bytes, int protection, int flags) {
  int saved = errno;
  void *address = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  errno = saved;
  return address == MAP_FAILED ? NULL : address;
}

void *metadata_map(size_t bytes) { return map(bytes, PROT_READ | PROT_WRITE, 0); }
void *metadata_reserve(size_t bytes) { return map(bytes, PROT_READ | PROT_WRITE, MAP_NORESERVE); }
void *metadata_reserve_addresses(size_t bytes) { return map(bytes, PROT_NONE, MAP_NORESERVE); }

bool metadata_make_accessible(void *address, size_t bytes) {
  int saved = errno;
  bool made = mprotect(address, bytes, PROT_READ | PROT_WRITE) == 0;
  errno = saved;
  return made;
}

void metadata_unmap(void *address, size_t bytes) {
  int saved = errno;
  if (address) munmap(address, bytes);
  errno = saved;
}
/* SPDX-License-Identifier: MIT */
