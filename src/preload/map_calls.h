/* What the program calls to map memory. */
#ifndef PRELOAD_MAP_CALLS_H
#define PRELOAD_MAP_CALLS_H

/* Finds the C library's functions. If another allocator library stands for malloc, also finds where
 * its code lies, since its own mappings are not the program's. */
void map_calls_resolve(void);

#endif
/* SPDX-License-Identifier: MIT */
