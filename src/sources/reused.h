/* Stacks with code in no module at whose addresses a runtime has put one function after another.
 * Such a stack has one number, whichever function was there: what it had is chosen by its time.
 * Used once all events were read. */
#pragma once

#include "sources/source.h"

/* Zeroed memory, and a source whose last event was read. */
struct reused {
  struct source *source;
  bool *is;       /* by stack: some frame of it has such an address; NULL: none of any */
  uint32_t count; /* stacks that there were at the beginning */
};

/* Looks at all stacks of the source. False without memory; then it may be destroyed. */
bool reused_begin(struct reused *reused, struct source *source);
void reused_destroy(struct reused *reused);

/* Replaces the number of a stack that a thread had at a time by that of the one with the functions
 * that were there then; not that of a stack with more frames than recorders write. False without memory. */
bool reused_find(struct reused *reused, uint32_t thread, uint64_t time_ns, uint32_t *stack);
/* SPDX-License-Identifier: MIT */
