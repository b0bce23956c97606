/* What the blocks of each type retain together: the sum over those that no block of the type
 * dominates, so that nothing counts twice. */
#pragma once

#include "retention/dominators.h"

struct type_row {
  uint32_t type;
  uint64_t blocks, bytes, retained;
};

struct type_table {
  struct type_row *rows; /* of the types that reachable blocks have; most retained bytes first */
  size_t count;
};

/* False without memory. Freed by type_table_free, also then. */
bool type_table_make(struct type_table *table, const struct graph *graph,
                     const struct dominators *dominators);
void type_table_free(struct type_table *table);
/* SPDX-License-Identifier: MIT */
