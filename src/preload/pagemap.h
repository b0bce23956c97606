/* How many pages of a range of addresses are resident, as the kernel's tables have it. */
#ifndef PRELOAD_PAGEMAP_H
#define PRELOAD_PAGEMAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* When a recording begins, and when a forked child leaves it. */
void pagemap_open(void);
void pagemap_close(void);

/* A descriptor, until it is given back; -1 where it cannot be had. */
int pagemap_take(void);
void pagemap_give_back(int pagemap);

/* In bytes. `files`: of these, of a file or shared; the rest is memory of the process's own. */
struct resident_bytes {
  uint64_t all, files;
};

/* Counts a range, which begins and ends with a page. A kernel before Linux 6.7 does not pass over
 * untouched pages by itself: there the function looks at half of the budget at most, in pages, and
 * takes that from it. False if not all was counted. */
bool pagemap_count(int pagemap, uintptr_t begin, uintptr_t end, size_t *budget,
                   struct resident_bytes *resident);

/* False once the kernel has refused; tests set it. */
extern _Atomic(bool) pagemap_can_scan;

#endif
/* SPDX-License-Identifier: MIT */
