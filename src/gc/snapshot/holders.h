/* The roots of a snapshot, each under its holder: a kind, a domain and a name. */
#ifndef GC_SNAPSHOT_HOLDERS_H
#define GC_SNAPSHOT_HOLDERS_H

#include "snapshot/writer.h"

struct wn_heap;

/* Writes all roots. The world is stopped, and minor heaps are empty. False without memory for the
 * names of holders. */
bool holders_write(struct wn_heap *heap, struct snapshot_writer *writer);

#endif
/* SPDX-License-Identifier: MIT */
