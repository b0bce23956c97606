/* CPython in a library that the program loads while it runs. */
#ifndef PRELOAD_LATE_PYTHON_H
#define PRELOAD_LATE_PYTHON_H

#include <stdbool.h>
#include <stddef.h>

/* Begins to look for it, if no interpreter has been found. `samples`: its small objects, too. `tell` is
 * called with the reason if its calls cannot be read; NULL: that has been told. */
void late_python_begin(bool samples, void (*tell)(const char *reason));

/* The program has made an anonymous mapping; `caller` is where. True: CPython has, for its first arena, and
 * its objects are sampled from now on. */
bool late_python_mapped(const void *caller, const void *mapped, size_t bytes);

#endif
/* SPDX-License-Identifier: MIT */
