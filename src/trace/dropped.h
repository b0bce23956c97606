/* Which times of a trace are missing: what its DROPPED records tell, joined to few stretches.
 *
 * Records of chunks that were dropped may be dropped themselves. The recorder numbers what it
 * drops, so a number that no record tells of is known to be missing, and the chunk was written
 * between the begin of what was dropped before it and the end of what was dropped after it.
 *
 * How many are missing is exact, but for chunks that were dropped while a history took them over:
 * of several that one record of the recorder tells of only the first is known, so all count as
 * missing. The times are a bound: all that is missing was recorded in them. */
#ifndef TRACE_DROPPED_H
#define TRACE_DROPPED_H

#include "trace/event.h"

/* Joins a stretch to those that it touches or nearly touches: the time between two is shorter than
 * a sixteenth of both. If there are too many then, the nearest two become one. */
void trace_times_add(struct trace_times *times, uint64_t from_ns, uint64_t until_ns);

/* DROPPED records. Those whose chunk is 0 tell of what is not missing; those whose count is 0 of
 * what the recorder has not dropped. Zeroed memory: none. */
struct dropped {
  struct trace_dropped *items;
  size_t count, capacity;
};

/* False without memory. */
bool dropped_add(struct dropped *dropped, const struct trace_dropped *item);

/* Brings them in the order of their numbers, and joins neighbours until there are no more than
 * DROPPED_ITEMS_MOST. */
enum { DROPPED_ITEMS_MOST = 1024 };
void dropped_join(struct dropped *dropped);

/* When what is missing was recorded, and in how many chunks: each number counts once, and one that
 * some record says to be in the history is not missing. Sorts the records. */
uint64_t dropped_times(struct dropped *dropped, struct trace_times *times);

void dropped_destroy(struct dropped *dropped);

#endif
/* SPDX-License-Identifier: MIT */
