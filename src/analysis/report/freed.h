/* What a program frees while it works, and as it ends: whether growth is a leak depends on both. */
#pragma once

#include "analysis/report/report.h"

/* Whether the program frees in general, between the report's moments: FREES_LEAST times what is
 * alive. Growth by realloc does not count, which allocates the whole block anew. */
bool freed_in_general(const struct report *report);

/* Whether the program frees nearly all that these rows hold at the report's moment, AT_EXIT of it,
 * after that moment: as it ends. */
bool freed_at_exit(const struct report *report, row_filter *selects, void *context);
/* SPDX-License-Identifier: MIT */
