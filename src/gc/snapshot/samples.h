/* The sampled blocks of a snapshot: the block's address, and its number in the trace, which has the
 * callstack of its allocation. */
#ifndef GC_SNAPSHOT_SAMPLES_H
#define GC_SNAPSHOT_SAMPLES_H

#include "snapshot/writer.h"

struct wn_heap;

/* Writes the samples of the heap's trace; of several traces those of the one that began last. The
 * world is stopped. */
void samples_write(struct wn_heap *heap, struct snapshot_writer *writer);

#endif
/* SPDX-License-Identifier: MIT */
