/* Pages from the operating system.
 *
 * LISTED: a list has the ranges of metadata_map and metadata_count_pages_in, so that metadata_look can ask
 * the kernel which of their pages were touched. Ranges of less than LISTED_LEAST bytes, of which there are
 * hundreds, are not listed, and count as touched: they are made to be written at once. So does a range
 * that finds no place. A range may be unmapped, and another mapped at its place, while a thread looks: then
 * that one look is wrong.
 *
 * BETWEEN LOOKS: what the program has had of our pages is touched. So as far as the most that it
 * had at one time has risen since the last look, so many bytes are no longer untouched. The tables
 * that fill at the same time are not known before the next look, which is due when all that is
 * mapped or the program's has grown by a sixteenth. Such a look passes over ranges that are FULL,
 * so it takes a time proportional to what is new, and to large tables that fill; what was swapped
 * out since is seen by the next look at all of them.
 *
 * FULL: two looks found the same of the range untouched, and not much: slots of some sizes leave
 * the last page of each span. */
#include "base/metadata.h"

#include "base/check.h"
#include "base/os.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { LISTED_MOST = TINY ? 4 : 2048, LISTED_LEAST = 1 << 15, GROWTH_LEAST = 1 << 19 };

static void *map_metadata(size_t bytes, int protection, int flags) {
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

static size_t metadata_whole_pages(size_t bytes) {
  size_t size = os_page_bytes();
  return (bytes + size - 1) / size * size;
}

/* Written by any thread. */
static _Atomic(size_t) own, untouched, others, others_most;
static _Atomic(bool) looked; /* from then on, new pages count as untouched */
/* BETWEEN LOOKS: at the last look, the value of others_most, and the largest of all_counted at
 * any. */
static _Atomic(size_t) most_then, counted_then;
static struct {
  _Atomic(uintptr_t) begin; /* 0: a free place */
  _Atomic(size_t) bytes;
  _Atomic(size_t) missing; /* what the last look found untouched; at first, all */
  _Atomic(bool) full;      /* FULL */
} listed[LISTED_MOST];

/* LISTED */
static void change_listed(uintptr_t from, uintptr_t to, size_t bytes) {
  for (size_t i = 0; i < LISTED_MOST; i++) {
    uintptr_t found = from;
    if (atomic_load(&listed[i].begin) != from) continue;
    if (!atomic_compare_exchange_strong(&listed[i].begin, &found, to)) continue;
    if (!to) return; /* a place that is free again may be another thread's */
    atomic_store(&listed[i].bytes, bytes);
    atomic_store(&listed[i].missing, bytes);
    atomic_store(&listed[i].full, false);
    return;
  }
}

void metadata_count_in(size_t bytes) { atomic_fetch_add_explicit(&own, bytes, memory_order_relaxed); }
void metadata_count_out(size_t bytes) { atomic_fetch_sub_explicit(&own, bytes, memory_order_relaxed); }

static size_t metadata_load(const _Atomic(size_t) *bytes) {
  return atomic_load_explicit(bytes, memory_order_relaxed);
}
static size_t less(size_t bytes, size_t by) { return bytes > by ? bytes - by : 0; }

size_t metadata_bytes(void) {
  size_t still_untouched =
      less(metadata_load(&untouched), less(metadata_load(&others_most), metadata_load(&most_then)));
  return less(metadata_load(&own), still_untouched + metadata_load(&others));
}

static void metadata_raise_to(_Atomic(size_t) *most, size_t bytes) {
  if (bytes > metadata_load(most)) atomic_store_explicit(most, bytes, memory_order_relaxed);
}

void metadata_of_others(size_t bytes) {
  atomic_store_explicit(&others, bytes, memory_order_relaxed);
  metadata_raise_to(&others_most, bytes);
}

static size_t all_counted(void) { return metadata_load(&own) + metadata_load(&others_most); }

bool metadata_look_is_due(void) {
  size_t then = metadata_load(&counted_then);
  return all_counted() > then + then / 16 + GROWTH_LEAST;
}

void metadata_count_pages_in(void *address, size_t bytes) {
  metadata_count_in(bytes);
  if (bytes < LISTED_LEAST) return;
  if (atomic_load_explicit(&looked, memory_order_relaxed))
    atomic_fetch_add_explicit(&untouched, bytes, memory_order_relaxed);
  change_listed(0, (uintptr_t)address, bytes);
}

void metadata_look(size_t (*resident)(uintptr_t begin, uintptr_t end), bool all) {
  size_t sum = 0;
  atomic_store_explicit(&most_then, metadata_load(&others_most), memory_order_relaxed);
  metadata_raise_to(&counted_then, all_counted());
  for (size_t i = 0; i < LISTED_MOST; i++) {
    uintptr_t begin = atomic_load(&listed[i].begin);
    size_t bytes = atomic_load(&listed[i].bytes), before = atomic_load(&listed[i].missing), missing = before;
    if (!begin) continue;
    if (all || !atomic_load(&listed[i].full)) missing = bytes - resident(begin, begin + bytes);
    atomic_store(&listed[i].missing, missing);
    atomic_store(&listed[i].full, missing == before && missing <= bytes / 8);
    sum += missing;
  }
  atomic_store_explicit(&untouched, sum, memory_order_relaxed);
  atomic_store_explicit(&looked, true, memory_order_relaxed);
}

void *metadata_map(size_t bytes) {
  void *address = map_metadata(bytes, PROT_READ | PROT_WRITE, 0);
  if (!address) return NULL;
  metadata_count_pages_in(address, metadata_whole_pages(bytes));
  return address;
}

void metadata_unmap(void *address, size_t bytes) {
  if (!address) return;
  metadata_count_out(metadata_whole_pages(bytes));
  if (metadata_whole_pages(bytes) >= LISTED_LEAST) change_listed((uintptr_t)address, 0, 0);
  unmap(address, bytes);
}

/* gdb's gcore writes all addresses of a mapping, touched or not, readable or not: a reserve would
 * make a file of its size. */
static void *reserve_metadata(size_t bytes, int protection) {
  void *address = map_metadata(bytes, protection, MAP_NORESERVE);
  int saved = errno;
  if (address) madvise(address, metadata_whole_pages(bytes), MADV_DONTDUMP);
  errno = saved;
  return address;
}

void *metadata_reserve(size_t bytes) { return reserve_metadata(bytes, PROT_READ | PROT_WRITE); }
size_t metadata_addresses(void) {
  struct rlimit limit;
  bool limited = !getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY;
  return limited ? (size_t)limit.rlim_cur : SIZE_MAX;
}

void *metadata_reserve_much(size_t bytes) {
  return bytes <= metadata_addresses() / 64 ? metadata_reserve(bytes) : NULL;
}

void *metadata_reserve_addresses(size_t bytes) { return reserve_metadata(bytes, PROT_NONE); }

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
