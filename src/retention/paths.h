/* Shortest paths from the roots to some blocks, in groups of equal signatures.
 *
 * SIGNATURE. A path is the steps from its holder to the block. A step is the type of a block and
 * the name or the number of the field that led to it; the fields of a long block are one, `[*]`.
 * Blocks of one type that follow each other, as in a list or a tree, are one step, unless the
 * language describes them. So all cells of a list, and all entries of a table, are in one group. */
#pragma once

#include "retention/dominators.h"

enum { FIELDS_TOLD = 8 }; /* a block with more fields is an array, unless its fields have names */

struct path_group {
  uint64_t signature;
  uint64_t blocks, bytes;
  uint64_t retained; /* by the blocks that no other one of the group dominates */
  uint32_t example;  /* the block that retains most */
  uint32_t number;   /* of of_node */
  uint32_t open;     /* while they are found */
};

struct paths {
  struct path_group *groups; /* most retained bytes first */
  size_t count, capacity;
  uint64_t *of_node; /* by node: its signature, then its group's number; 0: it is not wanted */
};

/* A step of a path: `blocks` blocks of a type, to the first of which `field` of the last step
 * leads. */
struct path_step {
  uint32_t node;  /* the last of them; a holder first */
  uint32_t first; /* the first of them */
  uint32_t field; /* FIELD_MOST: any of an array */
  uint32_t blocks;
};

/* Which blocks: those for which it is true. */
typedef bool paths_wanted(void *context, uint32_t node);

/* Of a graph that was searched. False without memory. Freed by paths_free, also then. */
bool paths_find(struct paths *paths, const struct graph *graph, const struct dominators *dominators,
                paths_wanted *wanted, void *context);
void paths_free(struct paths *paths);

/* Writes the last `most` steps to a node, the first one first, and returns how many there are. */
size_t paths_steps(const struct graph *graph, uint32_t node, struct path_step *steps, size_t most);
/* SPDX-License-Identifier: MIT */
