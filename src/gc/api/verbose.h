/* Verbose output: a listener (events.h) that writes a line for each event to standard error. The
 * parameter `verbose` is a set of bits:
 *
 *   0x1   a cycle begins                      0x40   the size of a slice
 *   0x2   a minor collection, a slice, the    0x80   finalisers begin to run
 *         end of marking and of a cycle       0x100  the parameters when the heap is opened
 *   0x4   the heap's size, and its limit      0x200  at a cycle's end: reasons for a compaction
 *   0x8   tables and stacks grow              0x400  statistics when the heap is closed
 *   0x10  a compaction
 *   0x20  a parameter changes
 *
 * Each line is one write, without a lock and without memory, so that it can be written while the
 * world is stopped. */
#ifndef GC_API_VERBOSE_H
#define GC_API_VERBOSE_H

struct wn_heap;

enum verbose {
  VERBOSE_CYCLE = 0x1,
  VERBOSE_COLLECTION = 0x2,
  VERBOSE_HEAP_SIZE = 0x4,
  VERBOSE_TABLES = 0x8,
  VERBOSE_COMPACTION = 0x10,
  VERBOSE_PARAMETER = 0x20,
  VERBOSE_SLICE_SIZE = 0x40,
  VERBOSE_FINALISERS = 0x80,
  VERBOSE_START = 0x100,
  VERBOSE_COMPACTION_COST = 0x200,
  VERBOSE_EXIT = 0x400,
};

/* Registers the heap's listener for verbose output. Called while the heap is being opened. */
void verbose_open(struct wn_heap *heap);

/* Makes verbose output write the events of these bits from now on. */
void verbose_set(struct wn_heap *heap, long bits);

#endif
/* SPDX-License-Identifier: MIT */
