/* /proc/self/maps, read line by line through a small buffer: no allocation, no lock. */
#ifndef CALLSTACK_MAPS_H
#define CALLSTACK_MAPS_H

#include "callstack/object.h"

/* Where the file that is mapped at an address begins in memory: the lowest of the mappings of that
 * file that follow each other there. 0 if the address is in no file and not in the vdso. */
uintptr_t maps_object_base(uintptr_t address);

/* The path of the mapping at an address, without the " (deleted)" that the kernel may add; empty if
 * the mapping has none. */
void maps_path(uintptr_t address, char path[OBJECT_PATH_MOST]);

#endif
/* SPDX-License-Identifier: MIT */
