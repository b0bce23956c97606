/* Runs of pages for the larger sampled blocks. Only region.c uses them. */
#ifndef PRELOAD_RUNS_H
#define PRELOAD_RUNS_H

#include "preload/region.h"

enum { RUNS_PAGE_SHIFT = 12, RUNS_PAGE = 1 << RUNS_PAGE_SHIFT };

/* Manages the pages of [base, base + bytes); base is a multiple of 1 GiB. False if metadata cannot
 * be had. */
bool runs_create(uintptr_t base, size_t bytes);

/* These do what the functions of region.h with the same names do. */
struct sampled_place runs_allocate(size_t bytes, size_t alignment, bool *zeroed);
struct sampled_place runs_allocate_growing(size_t bytes);
struct sampled_block *runs_find(const void *address);
void runs_give_back_idle(void);

/* So do these, for a place whose `block` is not NULL. */
bool runs_is_live(struct sampled_place place);
size_t runs_usable(struct sampled_place place);
bool runs_resize(struct sampled_place place, size_t bytes);
bool runs_release(struct sampled_place place);

/* As region_confine, for the blocks that lie here. */
size_t runs_confine(void);

void runs_before_fork(void);
void runs_after_fork(void);

#endif
/* SPDX-License-Identifier: MIT */
