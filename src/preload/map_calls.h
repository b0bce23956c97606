/* What the program calls to map memory. */
#ifndef PRELOAD_MAP_CALLS_H
#define PRELOAD_MAP_CALLS_H

/* Finds the functions below us, and where the allocator below us lies, whose own mappings are not
 * the program's. */
void map_calls_resolve(void);

#endif
/* SPDX-License-Identifier: MIT */
