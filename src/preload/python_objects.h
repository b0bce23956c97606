/* Samples what CPython allocates for small objects, which does not reach malloc. */
#ifndef PRELOAD_PYTHON_OBJECTS_H
#define PRELOAD_PYTHON_OBJECTS_H

#include "languages/python.h"

/* Begins, before the interpreter does, or while it makes its first arena. False, and nothing, if it has
 * another allocator. */
bool python_objects_begin(const struct python *python);

#endif
/* SPDX-License-Identifier: MIT */
