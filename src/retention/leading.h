/* Which holders lead to a block: all from whose roots a path goes there. No one of them need hold
 * it. */
#pragma once

#include "retention/graph.h"

struct leading {
  const struct graph *graph;
  uint32_t *begin, *from; /* by node: where in `from` those nodes begin that lead to it */
  uint8_t *met;           /* a set; empty between searches */
  uint32_t *queue;
};

/* False without memory. Freed by leading_close, also then. */
bool leading_open(struct leading *leading, const struct graph *graph);
void leading_close(struct leading *leading);

/* Writes the nodes of at most `most` holders, the nearest ones first, and returns how many there
 * are. */
size_t leading_holders(struct leading *leading, uint32_t node, uint32_t *holders, size_t most);
/* SPDX-License-Identifier: MIT */
