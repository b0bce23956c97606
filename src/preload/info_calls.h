/* Counts the sampled blocks for mallinfo. */
#ifndef PRELOAD_INFO_CALLS_H
#define PRELOAD_INFO_CALLS_H

#include <stdbool.h>
#include <stddef.h>

/* Finds the C library's functions. */
void info_calls_resolve(void);

/* Count a block of so many bytes that lies in the region, and has no companion that the C library
 * counts for it. Any thread may call them. */
void info_count_in(size_t bytes);
void info_count_out(size_t bytes);

/* What the blocks take that are counted in, headers included; `in_slots`: only those in slots of the
 * region (region.h), whose pages are counted as our own. */
size_t info_held_bytes(bool in_slots);

/* Asks the C library's malloc: the bytes that its blocks take, headers included, and those that it
 * keeps free. Takes its locks. False: it cannot tell. */
bool info_ask(size_t *in_use, size_t *free);

#endif
/* SPDX-License-Identifier: MIT */
