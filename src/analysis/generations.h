/* What became of the blocks of a collected heap: born in which part, promoted or not, dead at once
 * or not. */
#ifndef ANALYSIS_GENERATIONS_H
#define ANALYSIS_GENERATIONS_H

#include "analysis/timeline.h"

struct generations {
  struct sums minor, major, outside; /* where blocks were born (enum area); together all of them */
  struct sums promoted;              /* of those born in the minor heap */
  struct sums settled; /* of the promoted ones, those of which it is known whether the next cycle found */
  struct sums dead;    /* ... them dead */
};

/* Of all rows that `takes` takes (NULL: all). */
struct generations generations_of_all(const struct samples *samples, row_filter *takes, void *context);

/* Of a group's rows; `inside` has room for each node of the tree. */
struct generations generations_of_group(const struct samples *samples, const struct call_tree *tree,
                                        const struct group *group, enum extent extent, bool *inside);

#endif
/* SPDX-License-Identifier: MIT */
