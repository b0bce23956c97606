/* The names of roots and blocks, as all screens have them. */
#pragma once

#include "retention/graph.h"

enum { NAME_MOST = 1100 };

/* What no single holder holds. */
#define HELD_BY_SEVERAL "held by several at once"

/* Each writes to the buffer and returns it: the name of a holder, by its node, `global "sessions"`;
 * and a block's type with what the language says of the block. */
const char *holder_name(const struct graph *graph, uint32_t node, char name[NAME_MOST]);
const char *block_name(const struct graph *graph, uint32_t node, char name[NAME_MOST]);
/* SPDX-License-Identifier: MIT */
