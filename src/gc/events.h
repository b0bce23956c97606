/* What `verbose` tells, on standard error: a line for each event.
 *
 *   0x1   a cycle begins                      0x40   the size of a slice
 *   0x2   a minor collection, a slice, the    0x80   finalisers are due
 *         end of marking and of a cycle       0x100  what the parameters are when the heap is opened
 *   0x4   the major heap grows, or shrinks    0x200  at a cycle's end: what decides about a compaction
 *   0x8   tables and stacks grow              0x400  statistics when the heap is closed
 *   0x10  a compaction
 *   0x20  a parameter changes
 *
 * Each line is one write, without a lock and without memory, so that it may be told while the world is stopped. */
#ifndef GC_EVENTS_H
#define GC_EVENTS_H

#include <stdatomic.h>
#include <stddef.h>

struct wn_heap;

enum event {
  EVENT_CYCLE = 0x1,
  EVENT_COLLECTION = 0x2,
  EVENT_HEAP_SIZE = 0x4,
  EVENT_TABLES = 0x8,
  EVENT_COMPACTION = 0x10,
  EVENT_PARAMETER = 0x20,
  EVENT_SLICE_SIZE = 0x40,
  EVENT_FINALISERS = 0x80,
  EVENT_START = 0x100,
  EVENT_COMPACTION_COST = 0x200,
  EVENT_EXIT = 0x400,
};

void event_start(struct wn_heap *heap);
void event_close(struct wn_heap *heap);
void event_minor_begins(struct wn_heap *heap);
void event_minor_ends(struct wn_heap *heap);
void event_cycle_begins(struct wn_heap *heap);
void event_mark_ends(struct wn_heap *heap);
void event_cycle_ends(struct wn_heap *heap);

/* So many words were computed, and done. */
void event_slice(struct wn_heap *heap, size_t computed, size_t done);

/* The heap's memory became `bytes` more, or less, and is `mapped` now. The verbosity is the heap's: chunks know it alone. */
void event_heap_grows(const _Atomic(long) *verbose, size_t bytes, size_t mapped);
void event_heap_shrinks(const _Atomic(long) *verbose, size_t bytes, size_t mapped);

void event_table_grows(struct wn_heap *heap, const char *table, size_t entries);
void event_compaction(struct wn_heap *heap, size_t bytes);
void event_parameter(struct wn_heap *heap, const char *name, long before, long after);
void event_finalisers(struct wn_heap *heap, size_t due);

#endif
/* SPDX-License-Identifier: MIT */
