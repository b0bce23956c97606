/* What became of the blocks of a collected heap: in which area they were born, whether they were
 * promoted, and whether the next cycle found them dead. */
#pragma once

#include "analysis/load/timeline.h"

struct generations {
  struct sums minor, major, outside; /* by the area of birth (enum area) */
  struct sums external; /* the part of `outside` of which the program tells itself, whatever its heap */
  struct sums promoted; /* the part of `minor` that was promoted */
  struct sums resolved; /* the part of `promoted` for which the next cycle is known (enum next_cycle) */
  struct sums dead;     /* the part of `resolved` that the next cycle found dead */
};

/* Adds a row. */
void generations_add(struct generations *generations, const struct row *row);

/* All blocks, whatever the area of their birth. */
struct sums generations_births(const struct generations *generations);

/* Sums the rows of a group. `inside` is scratch, with room for each node of the tree. */
struct generations generations_of_group(const struct samples *samples, const struct call_tree *tree,
                                        const struct group *group, enum extent extent, bool *inside);
/* SPDX-License-Identifier: MIT */
