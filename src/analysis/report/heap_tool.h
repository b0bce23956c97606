/* Runtimes of languages that manage a heap of their own, which they map, and malloc knows nothing of. */
#pragma once

#include "analysis/load/recording.h"

/* Which tool looks into the heap of a runtime whose code is on the stacks, or why its objects are
 * not in the report, for users; NULL: it is no runtime that is known. */
const char *heap_tool_of(const struct recording *recording);
/* SPDX-License-Identifier: MIT */
