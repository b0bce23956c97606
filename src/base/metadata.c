/* Pages from the operating system.
 *
 * LISTED: a list has the ranges of metadata_map and metadata_count_pages_in, so that metadata_look can ask
 * the kernel which of their pages were touched. Ranges of less than LISTED_LEAST bytes, of which there are
 * hundreds, are not listed, and count as touched: they are made to be written at once. So does a range
 * that finds no place. A range may be unmapped, and another mapped at its place, while a thread looks: then
 * that one look is wrong. */
#include "base/metadata.h"

#include "base/check.h"
#include "base/os.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>

enum { LISTED_MOST = TINY ? 4 : 256, LISTED_LEAST = 1 << 15 };

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

/* Written by any thread. */
static _Atomic(size_t) own, untouched, others;
static _Atomic(bool) looked; /* from then on, new pages count as untouched */
static struct {
  _Atomic(uintptr_t) begin; /* 0: a free place */
  _Atomic(size_t) bytes;
} listed[LISTED_MOST];

/* LISTED */
static void change_listed(uintptr_t from, uintptr_t to, size_t bytes) {
  for (size_t i = 0; i < LISTED_MOST; i++) {
    uintptr_t found = from;
    if (!atomic_compare_exchange_strong(&listed[i].begin, &found, to)) continue;
    if (to) atomic_store(&listed[i].bytes, bytes); /* a place that is free again may be another thread's */
    return;
  }
}

void metadata_count_in(size_t bytes) { atomic_fetch_add_explicit(&own, bytes, memory_order_relaxed); }
void metadata_count_out(size_t bytes) { atomic_fetch_sub_explicit(&own, bytes, memory_order_relaxed); }

size_t metadata_bytes(void) {
  size_t bytes = atomic_load_explicit(&own, memory_order_relaxed);
  size_t not_ours = atomic_load_explicit(&untouched, memory_order_relaxed) +
                    atomic_load_explicit(&others, memory_order_relaxed);
  return bytes > not_ours ? bytes - not_ours : 0;
}

void metadata_of_others(size_t bytes) { atomic_store_explicit(&others, bytes, memory_order_relaxed); }

void metadata_count_pages_in(void *address, size_t bytes) {
  metadata_count_in(bytes);
  if (bytes < LISTED_LEAST) return;
  if (atomic_load_explicit(&looked, memory_order_relaxed))
    atomic_fetch_add_explicit(&untouched, bytes, memory_order_relaxed);
  change_listed(0, (uintptr_t)address, bytes);
}

void metadata_look(size_t (*resident)(uintptr_t begin, uintptr_t end)) {
  size_t sum = 0;
  for (size_t i = 0; i < LISTED_MOST; i++) {
    uintptr_t begin = atomic_load(&listed[i].begin);
    size_t bytes = atomic_load(&listed[i].bytes);
    if (begin) sum += bytes - resident(begin, begin + bytes);
  }
  atomic_store_explicit(&untouched, sum, memory_order_relaxed);
  atomic_store_explicit(&looked, true, memory_order_relaxed);
}

void *metadata_map(size_t bytes) {
  void *address = map(bytes, PROT_READ | PROT_WRITE, 0);
  if (!address) return NULL;
  metadata_count_pages_in(address, whole_pages(bytes));
  return address;
}

void metadata_unmap(void *address, size_t bytes) {
  if (!address) return;
  metadata_count_out(whole_pages(bytes));
  if (whole_pages(bytes) >= LISTED_LEAST) change_listed((uintptr_t)address, 0, 0);
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
