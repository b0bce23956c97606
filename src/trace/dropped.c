/* Which times of a trace are missing. */
#include "trace/dropped.h"

#include "base/array.h"
#include "base/smaller.h"
#include <stdlib.h>
#include <string.h>

enum { NEAR_PART = 16 };

/* ---- stretches of time ---- */

static double dropped_length_of(const struct trace_time_range *range) {
  return (double)range->until_ns - (double)range->from_ns;
}

/* The time between a stretch and the next; not above 0: they touch. */
static double gap_behind(const struct trace_time_range *range) {
  return (double)range[1].from_ns - (double)range->until_ns;
}

static bool are_near(const struct trace_time_range *range) {
  return gap_behind(range) * NEAR_PART <= dropped_length_of(range) + dropped_length_of(range + 1);
}

static void join_with_next(struct trace_time_range *ranges, uint32_t *count, uint32_t at) {
  ranges[at].until_ns = larger(ranges[at].until_ns, ranges[at + 1].until_ns);
  memmove(&ranges[at + 1], &ranges[at + 2], (*count - at - 2) * sizeof *ranges);
  --*count;
}

/* Which one is to be joined with the next: the first that is near, else the nearest. */
static uint32_t find_joinable(const struct trace_time_range *ranges, uint32_t count) {
  uint32_t nearest = 0;
  for (uint32_t i = 0; i + 1 < count; i++) {
    if (are_near(&ranges[i])) return i;
    if (gap_behind(&ranges[i]) < gap_behind(&ranges[nearest])) nearest = i;
  }
  return nearest;
}

/* ---- records ---- */

/* Those with one number, of which there is one in a whole trace, are in some order that is always
 * the same. */
static int dropped_by_number(const void *a, const void *b) {
  const struct trace_dropped *left = a, *right = b;
  if (left->number != right->number) return left->number < right->number ? -1 : 1;
  if (left->from_ns != right->from_ns) return left->from_ns < right->from_ns ? -1 : 1;
  return (left->until_ns > right->until_ns) - (left->until_ns < right->until_ns);
}

static uint64_t dropped_end_of(const struct trace_dropped *item) {
  return item->number <= UINT64_MAX - item->count ? item->number + item->count : UINT64_MAX;
}

/* Whether the next record tells of what was dropped next, and of the same: missing or not. `part`:
 * how near it must be, 0 for anywhere. */
static bool dropped_follows(const struct trace_dropped *item, const struct trace_dropped *next, double part) {
  if (!item->chunk != !next->chunk || !item->count != !next->count || next->number > dropped_end_of(item))
    return false;
  double gap = (double)larger(item->from_ns, next->from_ns) - (double)smaller(item->until_ns, next->until_ns);
  double lengths = (double)(item->until_ns - item->from_ns) + (double)(next->until_ns - next->from_ns);
  return !item->chunk || gap * part <= lengths;
}

static void join_item(struct trace_dropped *item, const struct trace_dropped *next) {
  item->count = larger(dropped_end_of(item), dropped_end_of(next)) - item->number;
  item->from_ns = smaller(item->from_ns, next->from_ns);
  item->until_ns = larger(item->until_ns, next->until_ns);
  item->since_ns = smaller(item->since_ns, next->since_ns);
}

static void dropped_sort(struct dropped *dropped) {
  if (dropped->count) qsort(dropped->items, dropped->count, sizeof *dropped->items, dropped_by_number);
}

static void join_all(struct dropped *dropped, double part) {
  size_t kept = 0;
  for (size_t i = 1; i < dropped->count; i++) {
    if (dropped_follows(&dropped->items[kept], &dropped->items[i], part))
      join_item(&dropped->items[kept], &dropped->items[i]);
    else
      dropped->items[++kept] = dropped->items[i];
  }
  dropped->count = kept + 1;
}

/* ---- shared ---- */

void trace_times_add(struct trace_times *times, uint64_t from_ns, uint64_t until_ns) {
  struct trace_time_range ranges[TRACE_TIMES_MOST + 1];
  uint32_t count = times->count, at = 0;
  if (until_ns < from_ns) until_ns = from_ns; /* of a damaged file */
  while (at < count && times->of[at].from_ns < from_ns) at++;
  memcpy(ranges, times->of, at * sizeof *ranges);
  ranges[at] = (struct trace_time_range){from_ns, until_ns};
  memcpy(&ranges[at + 1], &times->of[at], (count - at) * sizeof *ranges);
  count++;
  while (count > 1) {
    uint32_t which = find_joinable(ranges, count);
    if (!are_near(&ranges[which]) && count <= TRACE_TIMES_MOST) break;
    join_with_next(ranges, &count, which);
  }
  memcpy(times->of, ranges, count * sizeof *ranges);
  times->count = count;
}

bool dropped_add(struct dropped *dropped, const struct trace_dropped *item) {
  struct trace_dropped added = *item;
  if (added.until_ns < added.from_ns) added.until_ns = added.from_ns; /* of a damaged file */
  return ARRAY_ADD(dropped->items, dropped->count, dropped->capacity, added);
}

void dropped_join(struct dropped *dropped) {
  double part = NEAR_PART;
  if (!dropped->count) return;
  dropped_sort(dropped);
  join_all(dropped, part);
  while (dropped->count > DROPPED_ITEMS_MOST && part >= 1) join_all(dropped, part /= 2);
  if (dropped->count > DROPPED_ITEMS_MOST) join_all(dropped, 0);
}

uint64_t dropped_times(struct dropped *dropped, struct trace_times *times) {
  const struct trace_dropped *last = NULL; /* of those so far the one whose numbers end last */
  uint64_t present = 0, present_end = 0, others = 0;
  dropped_sort(dropped);
  for (size_t i = 0; i < dropped->count; i++) {
    const struct trace_dropped *item = &dropped->items[i];
    uint64_t told = last ? dropped_end_of(last) : 0, end = dropped_end_of(item);
    if (item->chunk) trace_times_add(times, item->from_ns, item->until_ns);
    if (!item->count) {
      others += item->chunk != 0;
      continue;
    }
    if (item->number > told)
      trace_times_add(times, smaller(item->from_ns, last ? last->from_ns : item->since_ns), item->until_ns);
    if (!item->chunk && end > present_end) {
      present += end - larger(item->number, present_end);
      present_end = end;
    }
    if (end >= told) last = item;
  }
  uint64_t missing = last ? dropped_end_of(last) - present : 0;
  return missing <= UINT64_MAX - others ? missing + others : UINT64_MAX;
}

void dropped_destroy(struct dropped *dropped) { free(dropped->items); }
/* SPDX-License-Identifier: MIT */
