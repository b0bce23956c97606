/* What Debian's C library for WebAssembly lacks; included before every source of the engine. */
#include <stddef.h>
void qsort_r(void *items, size_t count, size_t size, int (*compare)(const void *, const void *, void *),
             void *context);
/* SPDX-License-Identifier: MIT */
