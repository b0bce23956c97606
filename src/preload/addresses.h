/* Which blocks are sampled, by address: for processes whose address space has no room for the
 * region. */
#ifndef PRELOAD_ADDRESSES_H
#define PRELOAD_ADDRESSES_H

#include "preload/region.h"
#include <stdbool.h>

/* Sets up the table; false when memory for it cannot be had. */
bool addresses_create(void);

/* Remembers a live block; what is known of it is zeroed. NULL when the table is full there: the
 * block cannot be followed. Any thread. */
struct sampled_block *addresses_insert(const void *block);

/* A block that was inserted, or NULL if it is not sampled, which is nearly always so and costs one
 * load. */
struct sampled_block *addresses_find(const void *block);

/* Forgets a block that addresses_find gave: call it before the block is really freed, since then
 * its address may come again at once. */
void addresses_remove(struct sampled_block *known);

#endif
/* SPDX-License-Identifier: MIT */
