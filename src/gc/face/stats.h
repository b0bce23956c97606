/* Statistics for other parts of the heap. */
#ifndef GC_FACE_STATS_H
#define GC_FACE_STATS_H

#include <winnow/gc.h>

/* What wn_gc_quick_stat tells. The world is stopped, or no domain is left. */
void stats_count(struct wn_heap *heap, wn_gc_stat *stat);

#endif
/* SPDX-License-Identifier: MIT */
