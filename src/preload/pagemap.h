/* How many bytes of a range of addresses are resident, by the kernel's page tables. */
#ifndef PRELOAD_PAGEMAP_H
#define PRELOAD_PAGEMAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The process calls pagemap_open when a recording begins, and a forked child calls pagemap_close
 * when it leaves the recording. */
void pagemap_open(void);
void pagemap_close(void);

/* Take a descriptor of the page map, and give it back; -1 if there is none. */
int pagemap_take(void);
void pagemap_give_back(int pagemap);

/* In bytes. `files`: the part of `all` that is of files or shared; the rest is memory of the
 * process's own. */
struct resident_bytes {
  uint64_t all, files;
};

/* Counts a range, which begins and ends with a page. If the kernel has no scans (before Linux 6.7),
 * the function reads an entry for each page, untouched or not: at most `*budget` / 2 entries. It
 * subtracts from `*budget` how many entries it read. False if it did not count the whole range. */
bool pagemap_count(int pagemap, uintptr_t begin, uintptr_t end, size_t *budget,
                   struct resident_bytes *resident);

/* How many bytes of the process's own memory a range has resident; all, if that cannot be told. */
size_t pagemap_private(uintptr_t begin, uintptr_t end);

/* False once the kernel has refused a scan; tests set it. */
extern _Atomic(bool) pagemap_can_scan;

#endif
/* SPDX-License-Identifier: MIT */
