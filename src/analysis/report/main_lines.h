/* The source lines where the rows of a table allocated most: of functions a line, of stacks of
 * functions a stack of lines. */
#pragma once

#include "analysis/load/call_tree.h"

struct main_lines {
  struct call_tree tree; /* of the same blocks, BY_WHOLE_LINE, with groups */
  struct main_line *of;  /* index: the label of a group of the table */
};

/* Finds them. `rows`: the tree of the table, BY_FUNCTION or BY_STACK, of so many rows of samples.
 * `lines->tree` is made already. WN_ENOMEM: there are none, and `lines` is destroyed. */
wn_status main_lines_find(const struct call_tree *rows, size_t row_count, struct main_lines *lines);
void main_lines_destroy(struct main_lines *lines);

/* Of a group by function: the line with most of its own bytes, a group of `lines->tree`; NULL if none is
 * known. *count: how many lines have some. */
const struct group *main_line(const struct main_lines *lines, const struct group *group, size_t *count);

/* Of a group by stack: the node of `lines->tree` that is the stack with most of its bytes; 0: there
 * is none. */
uint32_t main_stack(const struct main_lines *lines, const struct group *group);
/* SPDX-License-Identifier: MIT */
