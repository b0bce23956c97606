/* Statistics for other files of this part. */
#ifndef GC_API_STATS_H
#define GC_API_STATS_H

#include <winnow/gc.h>

/* The statistics of wn_gc_quick_stat. The world is stopped, or no domain is left. */
void stats_count(struct wn_heap *heap, wn_gc_stat *stat);

#endif
/* SPDX-License-Identifier: MIT */
