/* The code of a function, by what stripped files keep for exceptions and backtraces. */
#pragma once

#include <elfutils/libdwfl.h>
#include <stdbool.h>

struct extent {
  Dwarf_Addr begin, end;
};

/* False if the file has no such function, or no sorted table of them. A cold part that lies elsewhere is
 * a function of its own. */
bool extent_find(Dwfl_Module *module, Dwarf_Addr address, struct extent *extent);
/* SPDX-License-Identifier: MIT */
