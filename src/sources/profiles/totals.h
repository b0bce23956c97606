/* Totals of a profile as the events of a source (TOTALS in source.h).
 *
 * n blocks of B bytes are two groups of equal blocks: B mod n of them have floor(B / n) + 1 bytes,
 * the others floor(B / n). A group of m blocks is a sample for each power of two in m, and the
 * sample stands for so many blocks. So the sums over the samples are n and B exactly, also in
 * floating point, as long as they are below 2^53 (TOTALS_MOST). Blocks of no bytes count; bytes
 * without a block do not.
 *
 * Time has three moments, which only say what comes before what: at 0 all is allocated, at 1 the
 * program held the most, at 2 the profile ends. What was held at such a moment is held from then
 * on, at the peak for one unit, and its samples count no allocation (held_only): a total of what
 * was allocated does the same at 0 and nowhere else. So each of the three sums is the file's own,
 * although the file does not tell which blocks at the peak are those at the end. */
#pragma once

#include "sources/source.h"

/* No sum of totals reaches it. */
#define TOTALS_MOST ((uint64_t)1 << 53)

struct total {
  uint64_t blocks, bytes;
  uint32_t stack;
  enum source_moment moment;
};

/* Of a stack and a moment there is one total, so the memory is that of different stacks. Zeros are the
 * empty list. */
struct totals {
  struct total *items;
  size_t count, capacity;
  uint32_t
      *of[SOURCE_MOMENTS]; /* by moment and stack: the number of its total, from 1 on; 0: there is none */
  size_t stacks;           /* these have so much room */
  uint64_t bytes[SOURCE_MOMENTS], blocks[SOURCE_MOMENTS]; /* by moment: the sums so far */
  /* Where totals_next is: the number of the total, its group, the blocks of this group that are left,
   * whether the sample that was given is still to be freed, and the last block's number. */
  size_t at;
  bool larger, begun, held;
  uint64_t left, block;
};

void totals_destroy(struct totals *totals);

/* Adds to the total of a stack and moment, unless there is nothing to add. WN_EINVAL: it has bytes
 * without a block, or a sum would become TOTALS_MOST or more; wn_last_error says so. WN_ENOMEM. */
wn_status totals_add(struct totals *totals, const struct total *total);

/* Gives the next event; false at the end. */
bool totals_next(struct totals *totals, struct trace_event *event);
/* SPDX-License-Identifier: MIT */
