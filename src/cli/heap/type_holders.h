/* What holds most of the blocks of each type: the outermost block that the language describes, or a
 * holder. */
#pragma once

#include "cli/heap/heap_text.h"

struct type_holder {
  uint32_t node;  /* NODE_ALL: several at once */
  uint64_t bytes; /* of the type's blocks themselves */
};

struct type_holders {
  struct type_holder *of_type;
};

/* False without memory. Freed by type_holders_free, also then. */
bool type_holders_find(struct type_holders *holders, const struct heap_file *file);
void type_holders_free(struct type_holders *holders);
/* SPDX-License-Identifier: MIT */
