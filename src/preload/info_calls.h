/* Counts the sampled blocks for mallinfo. */
#ifndef PRELOAD_INFO_CALLS_H
#define PRELOAD_INFO_CALLS_H

#include <stddef.h>

/* Finds the C library's functions. */
void info_calls_resolve(void);

/* Count a block of so many bytes that lies in the region, and has no companion that the C library
 * counts for it. Any thread may call them. */
void info_count_in(size_t bytes);
void info_count_out(size_t bytes);

#endif
/* SPDX-License-Identifier: MIT */
