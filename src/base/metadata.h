/* Memory for ourselves: pages from the operating system, never through malloc, so that it works
 * inside malloc. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed pages, readable and writable; bytes are rounded up to pages. NULL when the system has
 * none. */
void *metadata_map(size_t bytes);
void metadata_unmap(void *address, size_t bytes);

/* Memory that is ours, though metadata_map did not give it: freed blocks that we keep. */
void metadata_count_in(size_t bytes);
void metadata_count_out(size_t bytes);
void metadata_count_pages_in(void *address, size_t bytes); /* whole pages, for ever */

/* How much of metadata_map's pages this process has, and of what is counted in; without the pages
 * that were untouched when metadata_look looked last, and without so many bytes that are the
 * program's. `resident` tells how many bytes of a range are resident, at most all. A look is due
 * when so much was counted in since the last one that metadata_bytes may be far off; then it need
 * not ask of all ranges. */
size_t metadata_bytes(void);
bool metadata_look_is_due(void);
void metadata_look(size_t (*resident)(uintptr_t begin, uintptr_t end), bool all);
void metadata_of_others(size_t bytes);

/* Address space that costs nothing until it is written: zeroed on first touch. Not counted by
 * overcommit where the system allows that. Core dumps leave it out, so it is for tables of our own.
 * NULL when the address space is exhausted (ulimit -v). */
void *metadata_reserve(size_t bytes);

/* The bytes of addresses that the process may map in all (ulimit -v); SIZE_MAX if there is no
 * limit. */
size_t metadata_addresses(void);

/* As metadata_reserve, for a table of which a smaller one does: NULL also if it is more than a 64th
 * of a limited address space. */
void *metadata_reserve_much(size_t bytes);

/* Reserves addresses without memory: they count neither as data (RLIMIT_DATA) nor for overcommit,
 * and core dumps leave them out, until metadata_make_accessible, for a multiple of pages at a time;
 * to call that twice is harmless. What is accessible is in core dumps, touched or not. */
void *metadata_reserve_addresses(size_t bytes);
bool metadata_make_accessible(void *address, size_t bytes);

/* Unmaps other pages than those of metadata_map. NULL is ignored. */
void metadata_give_back(void *address, size_t bytes);
/* SPDX-License-Identifier: MIT */
