/* Global roots: cells that are roots of the whole heap.
 *
 * A cell is like a field of an old block: stores into it go through the same write barrier, so that
 * a minor collection scans only the cells in a remembered set. Cells are cut from pages that live
 * as long as the heap; free cells are linked. */
#ifndef GC_COLLECT_GLOBALS_H
#define GC_COLLECT_GLOBALS_H

#include "base/lock.h"
#include "gc/store/layout.h"
#include <winnow/heap.h>

struct wn_global {
  wn_value value;         /* wn_int(0) while free */
  struct wn_global *next; /* while free */
  const char *name;       /* the program's, for snapshots; NULL: none */
};

struct global_page;

struct globals {
  struct lock lock; /* rank GLOBALS */
  struct global_page *pages;
  struct wn_global *free;
};

/* globals_each calls `visit` for the value of each cell; the world is stopped. */
void globals_each(struct wn_heap *heap, wn_visit *visit, void *visitor);
void globals_destroy(struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
