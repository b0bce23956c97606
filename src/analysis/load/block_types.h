/* What the blocks of a trace are, while it is read: the names of types, and the type of each block.
 * Types of equal names are one. */
#pragma once

#include "analysis/load/strings.h"
#include "sources/source.h"

struct named_type {
  uint64_t type; /* its number in the trace */
  uint32_t name; /* that of its name among the strings */
};

struct typed_block {
  uint64_t block, type;
};

/* Zeroed memory is empty. */
struct block_types {
  struct strings *strings;
  struct named_type *named;
  size_t named_count, named_capacity;
  struct index by_type;       /* of `named`, numbers plus 1 */
  struct typed_block *blocks; /* in the order of blocks */
  size_t count, capacity;
};

/* All of these return false without memory. block_types_name: a type has a name. block_types_add: a
 * block has a type; blocks come in ascending order, and the last type of a block counts.
 * block_types_find: `*name` becomes the number of the name of a block's type among the strings; 0:
 * it has none. */
bool block_types_name(struct block_types *types, const struct trace_type_name *event);
bool block_types_add(struct block_types *types, uint64_t block, uint64_t type);
bool block_types_find(struct block_types *types, uint64_t block, uint32_t *name);

void block_types_destroy(struct block_types *types);
/* SPDX-License-Identifier: MIT */
