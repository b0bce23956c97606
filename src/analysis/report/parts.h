/* The parts of what a group of a call tree has: by the functions that call it, and by those that it
 * calls.
 *
 * ACCOUNT: the parts of either kind add up to the group's total. A stack counts for the caller of
 * its outermost frame of the group, and for the function that its innermost one calls. So no
 * recursion counts twice, be it direct or through other functions. What the group allocated itself
 * is the part that has its own label. */
#pragma once

#include "analysis/load/call_tree.h"

enum { PARTS_MOST = 5 };

struct part {
  uint32_t label; /* of the tree; of callers 0: the stack has none */
  struct sum bytes;
};

/* The largest ones, largest first, and how many more there are. */
struct parts {
  struct part part[PARTS_MOST];
  size_t count, more;
};

/* Not for BY_STACK, nor for label 0. WN_ENOMEM. */
wn_status parts_callers(const struct call_tree *tree, uint32_t label, struct parts *parts);
wn_status parts_callees(const struct call_tree *tree, uint32_t label, struct parts *parts);

/* Adds one more part, of which at most `most`, of PARTS_MOST, remain. */
void parts_add(struct parts *parts, size_t most, const struct part *part);
/* SPDX-License-Identifier: MIT */
