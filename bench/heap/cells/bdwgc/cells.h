/* Memory for the plain programs: the Boehm-Demers-Weiser collector, with its thread-local caches
 * and parallel marking. */
#ifndef BENCH_HEAP_CELLS_H
#define BENCH_HEAP_CELLS_H

#define GC_THREADS
#define THREAD_LOCAL_ALLOC
#include <gc/gc.h>
#include <stdbool.h>
#include <stdlib.h>

enum { cells_are_freed = false };

static inline void cells_begin(void) {
  GC_INIT();
  GC_start_mark_threads(); // else a program of one thread marks alone
}
static inline void *cells_check(void *cell) {
  if (!cell) abort();
  return cell;
}
static inline void *cells_new(size_t bytes) { return cells_check(GC_MALLOC(bytes)); }
static inline void *cells_new_array(size_t bytes) { return cells_check(GC_MALLOC(bytes)); }
static inline void *cells_new_text(size_t bytes) { return cells_check(GC_MALLOC_ATOMIC(bytes)); }
static inline void cells_free(void *cell) { (void)cell; }

#endif
/* SPDX-License-Identifier: MIT */
