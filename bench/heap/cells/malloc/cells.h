/* Memory for the plain programs: malloc, and free by hand. */
#ifndef BENCH_HEAP_CELLS_H
#define BENCH_HEAP_CELLS_H

#include <stdbool.h>
#include <stdlib.h>

enum { cells_are_freed = true };

static inline void cells_begin(void) {}
static inline void *cells_check(void *cell) {
  if (!cell) abort();
  return cell;
}
static inline void *cells_new(size_t bytes) { return cells_check(malloc(bytes)); }
static inline void *cells_new_array(size_t bytes) { return cells_check(calloc(1, bytes)); }
static inline void *cells_new_text(size_t bytes) { return cells_check(malloc(bytes)); }
static inline void cells_free(void *cell) { free(cell); }

#endif
/* SPDX-License-Identifier: MIT */
