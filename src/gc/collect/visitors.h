/* The table of visitors: all that holds the addresses of blocks, but for the fields of blocks.
 *
 * Each row visits the places of one kind. A cycle marks what the rows that `keep` visit, a
 * compaction updates what all rows visit, and the verifier checks it. The fields of blocks are found
 * by walks of the store: those of scanned blocks, and those of weak ones.
 *
 * Remembered sets, lists of young keys, custom blocks and identities hold addresses too, but nothing
 * after a minor collection; mark stacks and ephemeron.h's table hold none while the phase is
 * IDLE. tests/gc/test_holders.c looks for all else in all memory of the heap. */
#ifndef GC_COLLECT_VISITORS_H
#define GC_COLLECT_VISITORS_H

#include <stdbool.h>
#include <winnow/heap.h>

struct visitor_row {
  const char *what; /* a place of this kind holds */
  void (*each)(struct wn_heap *heap, wn_visit *visit, void *visitor);
  bool keeps;      /* it keeps the block alive */
  bool remembered; /* a young value makes the place enter a remembered set */
  bool tracked;    /* it has tracked blocks (TRACKED of layout.h), dead ones until they are swept */
};

enum { VISITOR_ROWS = 8 };
extern const struct visitor_row visitor_rows[VISITOR_ROWS];

/* Calls `visit` for each place of the rows, or of those that keep. The world is stopped. */
void visitors_each(struct wn_heap *heap, bool only_keeping, wn_visit *visit, void *visitor);

/* True if what holds addresses only between minor collections holds none. */
bool visitors_have_all(const struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
