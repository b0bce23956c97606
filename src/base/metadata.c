/* Pages from the operating system. */
#include "base/metadata.h"

#include "base/os.h"
#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

static void *map(size_t bytes, int protection, int flags) {
  int saved = errno;
  void *address = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  errno = saved;
  return address == MAP_FAILED ? NULL : address;
}

static void unmap(void *address, size_t bytes) {
  int saved = errno;
  munmap(address, bytes);
  errno = saved;
}

static size_t whole_pages(size_t bytes) {
  size_t size = os_page_bytes();
  return (bytes + size - 1) / size * size;
}

static _Atomic(size_t) own; /* by any thread */

void metadata_count_in(size_t bytes) { atomic_fetch_add_explicit(&own, bytes, memory_order_relaxed); }
void metadata_count_out(size_t bytes) { atomic_fetch_sub_explicit(&own, bytes, memory_order_relaxed); }
size_t metadata_bytes(void) { return atomic_load_explicit(&own, memory_order_relaxed); }

void *metadata_map(size_t bytes) {
  void *address = map(bytes, PROT_READ | PROT_WRITE, 0);
  if (address) metadata_count_in(whole_pages(bytes));
  return address;
}

void metadata_unmap(void *address, size_t bytes) {
  if (!address) return;
  metadata_count_out(whole_pages(bytes));
  unmap(address, bytes);
}

/* gdb's gcore writes all addresses of a mapping, touched or not, readable or not: a reserve would
 * make a file of its size. */
static void *reserve(size_t bytes, int protection) {
  void *address = map(bytes, protection, MAP_NORESERVE);
  int saved = errno;
  if (address) madvise(address, whole_pages(bytes), MADV_DONTDUMP);
  errno = saved;
  return address;
}

void *metadata_reserve(size_t bytes) { return reserve(bytes, PROT_READ | PROT_WRITE); }
void *metadata_reserve_addresses(size_t bytes) { return reserve(bytes, PROT_NONE); }

/* The kernel joins the pages with accessible neighbours, which have the same mark, into one
 * mapping. */
bool metadata_make_accessible(void *address, size_t bytes) {
  int saved = errno;
  bool made = mprotect(address, bytes, PROT_READ | PROT_WRITE) == 0;
  if (made) madvise(address, bytes, MADV_DODUMP);
  errno = saved;
  return made;
}

void metadata_give_back(void *address, size_t bytes) {
  if (address) unmap(address, bytes);
}
/* SPDX-License-Identifier: MIT */
