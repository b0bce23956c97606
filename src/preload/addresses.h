/* Which blocks are sampled, by address: for processes whose address space has no room for the
 * region. */
#ifndef PRELOAD_ADDRESSES_H
#define PRELOAD_ADDRESSES_H

#include "preload/region.h"
#include <stdbool.h>

/* Sets up the table; false when memory for it cannot be had. */
bool addresses_create(void);

/* Enters a live block, and returns a zeroed record for what is known of it. NULL if the table is
 * full near the block's place: then the block cannot be followed. Any thread may call it. */
struct sampled_block *addresses_insert(const void *block);

/* Returns the record of a block that was inserted, or NULL if the block is not sampled. That is
 * nearly always so, and costs one load. */
struct sampled_block *addresses_find(const void *block);

/* Forgets a block that addresses_find found. The caller calls it before it frees the block in the
 * real allocator, since after that another thread may be given the same address at once. */
void addresses_remove(struct sampled_block *known);

#endif
/* SPDX-License-Identifier: MIT */
