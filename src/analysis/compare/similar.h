/* Matches labels whose names two tools write in different ways.
 *
 * DHAT names an inlined function "get", which in a trace is "Pool<Item>::get()", and what it takes
 * from the symbol table "work(int)", which in the DWARF of a static function is "work". So labels
 * that nothing else matched are matched if their names may be of one function (cxx_name.h) and no
 * other label of either side is as similar. Their lines have to be equal, and so do the names of
 * their files, without the folders. */
#pragma once

#include "analysis/compare/matching.h"

/* Completes a matching. False: not enough memory. */
bool similar_match(const struct call_tree *before, const struct names *before_names,
                   const struct call_tree *after, const struct names *after_names, struct matching *matching);
/* SPDX-License-Identifier: MIT */
