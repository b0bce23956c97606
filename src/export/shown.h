/* The frames that a report shows of the trace's stacks, for exports that keep code addresses:
 * without wrappers beyond the function that has the row, without what is between languages, and without what
 * the query hides. */
#pragma once

#include "analysis/report/report.h"

/* Of a node of the trace's stacks: bit i is frame i, innermost first. `owned`: the frames that a
 * stack has whose blocks the node owns (OWNER of stacks.h); 0: it owns none. */
enum { SHOWN_MOST = 64 };
struct shown {
  uint64_t all, owned;
};

struct shown_stacks {
  struct shown *shown; /* index: node of the trace's stacks */
  uint32_t *owner_of;  /* index: node; the node that owns the stacks that end there */
};

/* False without memory; then, too, they may be destroyed. */
bool shown_stacks_create(const struct report *report, struct shown_stacks *stacks);
void shown_stacks_destroy(struct shown_stacks *stacks);

/* A node of a stack, with those of its frames that are shown: bit i is frame i. */
struct shown_frames {
  uint32_t node;
  uint64_t shown;
};

/* Sets `frames`, which has room for all nodes, to the stack that a node owns, innermost first, at
 * most `most` of them, and returns their number; 0 for node 0, which has the blocks without a
 * callstack. */
size_t shown_stack(const struct report *report, const struct shown_stacks *stacks, uint32_t node,
                   struct shown_frames *frames, size_t most);

/* The address within the call, one byte before the one to which it returns; 0: code of a language.
 */
uint64_t shown_address(struct source *source, uint32_t node);
/* SPDX-License-Identifier: MIT */
