/* Runs of pages for the larger sampled blocks. Used by region.c only. */
#ifndef PRELOAD_RUNS_H
#define PRELOAD_RUNS_H

#include "preload/region.h"

enum { RUNS_PAGE_SHIFT = 12, RUNS_PAGE = 1 << RUNS_PAGE_SHIFT };

/* Manages the pages of [base, base + bytes); base is a multiple of 1 GiB. False if metadata cannot be had. */
bool runs_create(uintptr_t base, size_t bytes);

/* As the functions of region.h with these names. */
void *runs_allocate(size_t bytes, size_t alignment, bool *zeroed);
void *runs_allocate_growing(size_t bytes);
bool runs_resize(void *address, size_t bytes);
bool runs_release(void *address);
void runs_give_back_idle(void);

enum region_state runs_state(const void *address);
size_t runs_usable(const void *address);
struct sampled_block *runs_block(const void *address);

void runs_before_fork(void);
void runs_after_fork(void);

#endif
/* SPDX-License-Identifier: MIT */
