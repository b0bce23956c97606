/* How the memory of a row grew, in a word. */
#pragma once

#include "analysis/report/sites.h"
#include "analysis/report/verdict.h"

/* The trend of a group of a table: "grows", "at once", "level", "replaced", "late", "uneven",
 * "freed", or "?" with too few samples. `alive`: the table of what was alive last, with TABLE_GROWTH; NULL: it is
 * `table`. */
const char *trend_of(struct table *table, struct table *alive, const struct group *held,
                     enum sites_order order, const struct verdict *verdict);
/* SPDX-License-Identifier: MIT */
