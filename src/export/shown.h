/* The frames that a report shows of the trace's stacks, for exports that keep code addresses:
 * without wrappers beyond the function that has the row, and without what the query hides. */
#ifndef EXPORT_SHOWN_H
#define EXPORT_SHOWN_H

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

#endif
/* SPDX-License-Identifier: MIT */
