/* Memory for the plain programs that never comes back: one block after the other, from huge pages
 * that are there before they are needed. What a program takes with it is what it would take with a
 * collector that costs nothing, but moves nothing either. */
#ifndef BENCH_HEAP_CELLS_H
#define BENCH_HEAP_CELLS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { cells_are_freed = false };

#define CELLS_PIECE ((size_t)64 << 20)
#define CELLS_PAGE  ((size_t)2 << 20)

static char *cells_at, *cells_end;

static inline void cells_begin(void) {}

__attribute__((noinline)) static void cells_more(void) {
  char *piece = mmap(NULL, CELLS_PIECE + CELLS_PAGE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (piece == MAP_FAILED) abort();
  cells_at = piece + (-(uintptr_t)piece & (CELLS_PAGE - 1));
  cells_end = cells_at + CELLS_PIECE;
  madvise(cells_at, CELLS_PIECE, MADV_HUGEPAGE);
  for (char *page = cells_at; page < cells_end; page += CELLS_PAGE) *page = 0;
}

static inline void *cells_new(size_t bytes) {
  size_t room = (bytes + 7) & ~(size_t)7;
  if (room > CELLS_PIECE) abort();
  if ((size_t)(cells_end - cells_at) < room) cells_more();
  char *cell = cells_at;
  cells_at += room;
  return cell;
}
static inline void *cells_new_array(size_t bytes) { return cells_new(bytes); }
static inline void *cells_new_text(size_t bytes) { return cells_new(bytes); }
static inline void cells_free(void *cell) { (void)cell; }

#endif
/* SPDX-License-Identifier: MIT */
