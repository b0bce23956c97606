/* What a name of `--path` means: blocks, or a holder. A name may be copied from a table: then it is
 * the first step of a row's chain, what counts blocks or rows behind it is no part of it, and "…"
 * ("~" where the locale has no such letter) stands for anything, and may stand for the end of the
 * first step. A name that means something as it is, is no such copy. */
#pragma once

#include "cli/heap/heap_text.h"

struct wanted {
  const struct graph *graph;
  char name[NAME_MOST];
  uint32_t holder; /* its node, if no block has the name; NODE_ALL: what several hold at once; or NOWHERE */
};

/* Of a graph that was searched. False: no reachable block and no holder has the name. */
bool wanted_find(struct wanted *wanted, const struct graph *graph, const char *given);

/* Whether a block has the name: that of its type, or what the language says of it, or both; a
 * paths_wanted. */
bool wanted_is(void *wanted, uint32_t node);

/* Says that nothing has the name, and which names are like it. Returns the exit code. */
int wanted_fail(const struct heap_file *file, const char *given);
/* SPDX-License-Identifier: MIT */
