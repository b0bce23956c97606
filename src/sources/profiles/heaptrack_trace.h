/* Files of heaptrack, the heap profiler of KDE, as a source: the text that heaptrack_interpret
 * makes, compressed by gzip or Zstandard or not, of the versions 1 to 3.
 *
 * Such a file is a sequence of events, with every allocation: lines of numbers in hexadecimal
 * digits. It defines texts, code addresses with their functions, stacks, and kinds of allocation,
 * each a size and a stack. An allocation and a deallocation name a kind, not a block. So what is
 * held is exact at any moment and for each stack, and which of equal blocks was freed is not known:
 * the source takes the oldest, and says that it does not tell lives. (In traces with every block of
 * sqlite3, gcc and perl, of 41,000 frees of one of several equal blocks that lived, the oldest was
 * freed in 93 %, the latest in 2 %: winnow record --rate 1, then the events of winnow dump, by
 * stack and size.) A realloc is a deallocation and an allocation.
 *
 * The clock has ticks of about ten milliseconds. Events between two ticks keep their order by a
 * nanosecond each. */
#pragma once

#include "sources/source.h"

/* Whether the first bytes, inflated, are those of such a file. */
bool heaptrack_trace_begins(const unsigned char *bytes, size_t count);

/* Opens a file, after all of it was read once and checked. On failure wn_last_error says why, with
 * the number of the line. */
wn_status heaptrack_trace_open(const char *path, struct source **source);
/* SPDX-License-Identifier: MIT */
