/* A chain of blocks down the tree of dominators, each of which alone holds most of what the first
 * one does: a row of the table of holders. Blocks of one type of which each holds most of the one
 * before, by the same field, as in a list, are one step of it, a RUN. A block that the language
 * describes begins a chain, unless the chain began with another one. */
#pragma once

#include "cli/heap/heap_text.h"

struct chain {
  uint32_t begin, first, last; /* the first block, and the run at the end */
  uint64_t bytes;              /* that it holds */
  char text[12 * NAME_MOST];
};

/* A chain of a holder; NODE_ALL: what several hold at once, which goes nowhere. And one that begins
 * with a block. */
void chain_of_holder(struct chain *chain, const struct heap_file *file, uint32_t node, const char *name);
void chain_of_block(struct chain *chain, const struct heap_file *file, uint32_t node);

/* A walk over the blocks directly below the run at the end of a chain. NOWHERE ends it. */
struct below {
  const struct heap_file *file;
  uint32_t last, next_of_run, child, field; /* field: of the run */
};
struct below below_of(const struct heap_file *file, const struct chain *chain);
uint32_t below_next(struct below *below);
/* SPDX-License-Identifier: MIT */
